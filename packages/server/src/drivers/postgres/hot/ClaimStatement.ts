/**
 * Claims in any queues of any stores at once. Within a queue the best jobs are those of the highest priority, and of those the first
 * in place: lanes are looked at without locks to see how many of the best each has, and then so many are locked in each. What others
 * hold locked is passed over, never waited for.
 *
 * A group whose queue is paused or has jobs that are due gets nothing; nor does one that has lanes that this server does not know, or
 * one with a call that another server carries out at this moment. So whoever gets less than he wants must look why.
 */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import type { JobRow } from "../../../core/JobRow.ts"
import type { Row } from "../Connections.ts"
import { decodeJob, liveJob } from "../JobColumns.ts"
import type { LaneKey } from "../LaneNumbers.ts"
import { active, fresh, returned } from "../RowStates.ts"
import * as Groups from "./Groups.ts"
import { jobBySeq } from "./Lookups.ts"
import { due, held, lanesOfNames, paused } from "./QueueConditions.ts"

const bytes = `$${Groups.next}::float8`

// Of two servers that take a job for one token, one is undone by the key that is not unique, but by then the other one, passing over
// what that one had locked, may have taken a job that was not the first. So a call says that it is under way.
const isAlone = `(
  select bool_and(pg_try_advisory_xact_lock(hashtextextended(t.token, w.store))) from ${Groups.leaders}
) is true`

const ready = `
  ${isAlone} and not ${paused} and not ${due} and (select count(*) from ${lanesOfNames}) = w.lane_to - w.lane_from + 1`

// Costs as much as finding the jobs; without it a token that holds one makes the statement fail.
const noneHeld = `and (select t.k from ${held} limit 1) is null`

const inLane = (state: number): string => `l.store = c.store and l.lane = c.lane and l.state = ${state}`

/** So many rows of lane `c`, from its start, that nobody has locked. */
const lock = (state: number): string => `
  select l.seq, l.place, l.ctid as at from live l
  where ${inLane(state)} and l.place >= c.start order by l.place limit c.n for update skip locked`

// One lane, where nothing has come back: its line is the order.
const straight = (tokens: string): string => `
  wanted as materialized (
    select w.store, w.first, w.position as g, ${Groups.lane.number("w.lane_from")} as lane,
      ${Groups.lane.start("w.lane_from")} as start, w.last - w.first + 1 as n
    from ${Groups.rows} where w.lane_from = w.lane_to and ${ready} ${tokens} and (
      select l.seq from live l
      where l.store = w.store and l.lane = ${Groups.lane.number("w.lane_from")} and l.state = ${returned}
      order by l.place limit 1
    ) is null
  ), picked as materialized (
    select c.g, c.first, c.store, c.lane, ${fresh} as was, r.seq, r.at, (c.first + r.rank - 1)::int4 as k
    from wanted c
    cross join lateral (select l.seq, l.at, row_number() over () as rank from (${lock(fresh)}) l) r
  )`

const head = (state: number, from: string): string => `
  (select l.place, ${state} as state from live l where ${inLane(state)} ${from} order by l.place limit c.n)`

const locked = (state: number): string => `
  select c.g, c.first, c.priority, c.store, c.lane, c.state, l.* from counts c cross join lateral (${lock(state)}) l
  where c.state = ${state}`

const heads = `(${head(fresh, "and l.place >= c.start::int8")} union all ${head(returned, "")}) h`

// Lanes come by priority, the highest first, and are read no further than there are enough jobs: none of a lower priority is among the best.
const least = `
  select c.priority from (select w.store, w.last - w.first + 1 as n, l.* from ${Groups.lanes} l(lane, priority, start)) c
  cross join lateral ${heads} offset w.last - w.first limit 1`

const merged = (tokens: string): string => `
  wanted as materialized (
    select w.position as g, w.store, w.first, w.last, w.lane_from, w.lane_to, coalesce((${least}), '-infinity') as least
    from ${Groups.rows} where ${ready} ${tokens}
  ), lanes as (
    select w.g, w.store, w.first, w.last - w.first + 1 as n, l.* from wanted w
    cross join lateral ${Groups.lanes} l(lane, priority, start) where l.priority >= w.least
  ), best as (
    select c.*, h.place, h.state, row_number() over (partition by c.g order by c.priority desc, h.place) as rank
    from lanes c
    cross join lateral ${heads}
  ), counts as materialized (
    select g, first, priority, store, lane, state, min(place) as start, count(*) as n from best
    where rank <= n group by g, first, priority, store, lane, state
  ), picked as materialized (
    select g, first, store, lane, state as was, seq, at,
      (first + row_number() over (partition by g order by priority desc, place) - 1)::int4 as k
    from (${locked(fresh)} union all ${locked(returned)}) l
  )`

// The text of jsonb has a space behind each colon and comma, which the text of JSON has not. Without metadata there are two braces.
const sizeOf = `
  select coalesce(octet_length(j.payload::text), 0) + case when j.metadata is null then 2
    else octet_length(j.metadata::text) + 1 - 2 * (select count(*) from jsonb_object_keys(j.metadata)) end as bytes
  from ${jobBySeq("p.store", "p.seq", "j.payload, j.metadata")} j`

// The jobs of a group end before they are too big for one answer. The first one fits whatever its size.
const fitting = `
  , fitting as materialized (
    select * from (
      select p.*, sum(s.bytes) over (partition by p.g order by p.k) as until_here
      from picked p cross join lateral (${sizeOf}) s
    ) p where until_here <= ${bytes} or k = first
  )`

// What a lane's jobs have in common is known to whoever has asked for the lane.
const noLane = "(select null::text as queue, null::text as name, null::float8 as priority) n"

const take = (from: string): string => `
  , taken as (
    update live l set state = ${active}, token = ${Groups.claim.token("p.k")}, processed_at = ${Groups.claim.now("p.k")},
      lock_until = ${Groups.claim.until("p.k")}
    from ${from} p where l.ctid = p.at
    returning l.*, p.k, p.was
  ), counted as (
    insert into tally_change (store, lane, waiting, active)
    select store, lane, -count(*), count(*) from taken group by store, lane
  )
  select ${liveJob}, l.k, l.was, l.lane, (select count(*) from picked)::int4 from taken l
  cross join lateral ${jobBySeq("l.store", "l.seq")} j cross join ${noLane}`

/** What a statement must be able to do. */
export interface Kind {
  /** All groups have one lane; those in which something has come back get nothing. */
  readonly isStraight: boolean
  /** Some calls have many tokens. */
  readonly hasMany: boolean
  /** Groups with a token that holds a job get nothing. Without, the statement fails as for a key that is not unique. */
  readonly checksTokens: boolean
}

const statement = ({ checksTokens, hasMany, isStraight }: Kind): string => {
  const picked = (isStraight ? straight : merged)(checksTokens ? noneHeld : "")
  return `with ${picked} ${hasMany ? fitting : ""} ${take(hasMany ? "fitting" : "picked")}`
}

const statements = new Map<string, string>()

/** The statement that is enough for this: the less it can do, the sooner it is done. */
export const sqlFor = (kind: Kind): string => {
  const key = `${kind.isStraight} ${kind.hasMany} ${kind.checksTokens}`
  const sql = statements.get(key) ?? statement(kind)
  statements.set(key, sql)
  return sql
}

/** The parameters of each of these; `bytes` is how much the jobs of a group may have together, where some call has many tokens. */
export const parameters = (groups: ReadonlyArray<Groups.Group>, bytes: number): ReadonlyArray<unknown> => [
  ...Groups.parameters(groups),
  PgTypes.float8(bytes)
]

/** A job that was claimed. */
export interface Taken {
  readonly job: JobRow
  /** The position of its claim, from 0, among the claims of all groups. */
  readonly position: number
  readonly lane: number
  /** Whether it was found behind the head of its lane, and not among those that had come back. */
  readonly wasFresh: boolean
}

/** What a statement answers. */
export interface Answer {
  readonly taken: ReadonlyArray<Taken>
  /** There were jobs that did not fit. */
  readonly wasCut: boolean
}

const width = liveJob.split(",").length

/** The answer of each of these; `lanes` gives those that were asked for by their numbers. */
export const decode = (rows: ReadonlyArray<Row>, lanes: (lane: number) => LaneKey): Answer => ({
  taken: rows.map((row): Taken => {
    const [position, was, lane] = row.slice(width)
    return {
      job: { ...decodeJob(row), ...lanes(Number(lane)) },
      position: Number(position) - 1,
      lane: Number(lane),
      wasFresh: was === fresh
    }
  }),
  wasCut: rows.length > 0 && Number(rows[0]?.at(-1)) > rows.length
})
