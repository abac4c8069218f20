/**
 * Why claims found too little: one statement that nothing is hidden from, neither by locks of others nor by hints. What it does not
 * see had not been committed when it began, which is what its snapshot says.
 */
import type { Row } from "../Connections.ts"
import { delayed, fresh, returned } from "../RowStates.ts"
import * as Groups from "./Groups.ts"
import { due, held, lanesOfNames, paused } from "./QueueConditions.ts"

const first = (state: number): string =>
  `(select l.place from live l where l.store = w.store and l.lane = n.lane and l.state = ${state} order by l.place limit 1)`

// A row that somebody holds locked, or has changed and not committed, bears his number.
const free = (state: number): string => `(
  select true from ${lanesOfNames} cross join lateral (
    select from live l where l.store = w.store and l.lane = n.lane and l.state = ${state} and l.xmax = 0 order by l.place limit 1
  ) l limit 1
) is true`

const select = (isFree: string): string => `
  select ${paused}, ${due}, array(select t.k from ${held}),
    exists (select from ${lanesOfNames} where ${first(fresh)} is not null or ${first(returned)} is not null),
    ${isFree},
    (select min(l.run_at) from ${lanesOfNames} cross join lateral (
      select l.run_at from live l where l.store = w.store and l.lane = n.lane and l.state = ${delayed} order by l.run_at limit 1
    ) l),
    pg_current_snapshot()::text
  from ${Groups.rows} order by w.position`

/** For calls that got nothing. */
export const sql = select("null::bool")

/** For calls that got less than they wanted: it looks, too, whether nobody has locked some of what is there. */
export const sqlOfFree = select(`${free(fresh)} or ${free(returned)}`)

/** The parameters of either. */
export const parameters = (groups: ReadonlyArray<Groups.Group>): ReadonlyArray<unknown> => Groups.parameters(groups)

/** What a group stands before. */
export interface Standing {
  readonly isPaused: boolean
  /** The queue has delayed jobs whose time has come, whatever their names. */
  readonly isDue: boolean
  /** The positions, from 0 among the claims of all groups, of tokens that hold a job of the store. */
  readonly held: ReadonlySet<number>
  /** There is a waiting job, though perhaps in the hands of another transaction. */
  readonly isClaimable: boolean
  /** There is one that nobody has locked; not known unless looked for. */
  readonly isFree: boolean
  readonly nextRunAt: number | undefined
  /** What the statement could see. */
  readonly snapshot: string
}

/** The answer of either, a row a group. */
export const decode = ([isPaused, isDue, held, isClaimable, isFree, nextRunAt, snapshot]: Row): Standing => ({
  isPaused: isPaused === true,
  isDue: isDue === true,
  held: new Set(Array.isArray(held) ? held.map((number) => Number(number) - 1) : []),
  isClaimable: isClaimable === true,
  isFree: isFree === true,
  nextRunAt: typeof nextRunAt === "number" ? nextRunAt : undefined,
  snapshot: String(snapshot)
})
