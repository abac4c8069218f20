/**
 * Looks now and then whether jobs lie about that somebody here waits for: those whose server died before it could tell, and those that
 * were told when nobody heard. One query for all who are parked, and none while nobody is. It also says that this server is there.
 */
import { type Clock, Effect, type Latch, Random } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as LiveClock from "../../../LiveClock.ts"
import type { Row, Sessions } from "../Connections.ts"
import { textOf } from "../PostgresFault.ts"
import { delayed, fresh, returned } from "../RowStates.ts"
import type { Fleet } from "./Fleet.ts"
import type { Line } from "./Line.ts"
import type { Count } from "./Presence.ts"

/** See the file. */
export interface Patrol {
  readonly fleet: Fleet
  readonly line: Line
  readonly sessions: Sessions
  /** The clock that jobs live by. */
  readonly clock: Clock.Clock
  /** Milliseconds between two looks, at most. */
  readonly intervalMs: number
  /** Opened when the next look should not wait. */
  readonly now: Latch.Latch
}

// So many queues and names a statement, so that none is long.
const mostAtOnce = 1000

const waitingIn = (state: number): string =>
  `select 1 from live j where j.store = l.store and j.lane = l.lane and j.state = ${state}`

// $1 channel, $2 payloads to tell, $3 stores, $4 queues, $5 names ('' for any), $6 how many jobs are enough, $7 now.
const look = `
  select (select count(pg_notify($1, payload)) from unnest($2::text[]) payload), (
    select json_agg(json_build_array(w.place, found.jobs))
    from unnest($3::int4[], $4::text[], $5::text[], $6::int4[]) with ordinality w (store, queue, name, most, place)
    cross join lateral (
      select count(*) as jobs from (
        select 1 from lane l cross join lateral (
          (${waitingIn(fresh)} limit w.most)
          union all (${waitingIn(returned)} limit w.most)
          union all (${waitingIn(delayed)} and j.run_at <= $7::float8 limit w.most)
        ) job
        where l.store = w.store and l.queue = w.queue and (w.name = '' or l.name = w.name)
        limit w.most
      ) enough
    ) found
    where found.jobs > 0 and not exists (select from pause p where p.store = w.store and p.queue = w.queue)
  )::text`

/** Which of these have jobs that nobody took, and how many, up to the number of those who wait. */
export const find = (
  { clock, line, sessions }: Pick<Patrol, "clock" | "line" | "sessions">,
  wanted: ReadonlyArray<Count>,
  payloads: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<Count>, SqlError> => {
  const parameters = [
    line.channel,
    payloads,
    wanted.map(({ key }) => key.store),
    wanted.map(({ key }) => key.queue),
    wanted.map(({ key }) => key.name ?? ""),
    wanted.map(({ waiters }) => waiters),
    clock.currentTimeMillisUnsafe()
  ]
  return Effect.map(
    sessions.use((session) => session.run(look, parameters)),
    (rows) => read(wanted, rows)
  )
}

const read = (wanted: ReadonlyArray<Count>, rows: ReadonlyArray<Row>): ReadonlyArray<Count> => {
  const text = rows[0]?.[1]
  if (typeof text !== "string") return []
  // The statement builds a list of pairs of numbers.
  return (JSON.parse(text) as ReadonlyArray<readonly [place: number, jobs: number]>).flatMap(([place, jobs]) => {
    const of = wanted[place - 1]
    return of === undefined ? [] : [{ key: of.key, waiters: jobs }]
  })
}

/** One look, if anybody is parked. */
export const lookOnce = Effect.fnUntraced(function* (patrol: Patrol): Effect.fn.Return<void, SqlError> {
  const { fleet, line } = patrol
  const wanted = Array.from(fleet.wanted())
  if (wanted.length === 0) return
  if (fleet.isDeaf) line.hangUp()
  let payloads = fleet.beat()
  for (let from = 0; from < wanted.length; from += mostAtOnce) {
    const looked = find(patrol, wanted.slice(from, from + mostAtOnce), payloads)
    const found = yield* Effect.tapError(looked, () => Effect.sync(() => fleet.skipBeat()))
    payloads = []
    for (const { key, waiters } of found) fleet.found(key, waiters)
  }
})

const warn = (error: SqlError): Effect.Effect<void> =>
  Effect.logWarning(
    "the look for jobs that nobody takes failed, and is made again and again: " +
      `${textOf(error)}. Until then a wake that was missed stays so`
  )

// Connections of a pool that the database has cut are found out one by one.
const soonMs = 500

/** Looks until it is interrupted. A look that fails is made again soon. */
export const walk: (patrol: Patrol) => Effect.Effect<never> = Effect.fnUntraced(function* (patrol) {
  const { intervalMs, now } = patrol
  let isFailing = false
  while (true) {
    const part = yield* Random.next
    const restMs = isFailing ? Math.min(intervalMs, soonMs) : intervalMs
    yield* Effect.raceFirst(now.await, LiveClock.sleep(restMs * (1 - part / 4)))
    now.closeUnsafe()
    const result = yield* Effect.result(lookOnce(patrol))
    if (result._tag === "Failure" && !isFailing) yield* warn(result.failure)
    isFailing = result._tag === "Failure"
  }
}, LiveClock.withLive)
