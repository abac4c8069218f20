/** Delayed jobs whose time has come, of any queues at once: they wait now, in the place that they had. */
import * as Columns from "../Columns.ts"
import type { Row } from "../Connections.ts"
import { delayed, returned } from "../RowStates.ts"
import { lanesOfQueue } from "./QueueConditions.ts"

/** A queue in which jobs are due. */
export interface DueQueue {
  readonly store: number
  readonly queue: string
  readonly now: number
}

const columns: ReadonlyArray<Columns.Column<DueQueue>> = [
  { name: "store", type: "int4", of: ({ store }) => store },
  { name: "queue", type: "text", of: ({ queue }) => queue },
  { name: "now", type: "float8", of: ({ now }) => now }
]

/** So many of a queue at once, which keeps a statement short. */
export const mostAtOnce = 1000

// What another has locked he has other plans for; whoever looks again sees what became of it.
export const sql = `
  with due as materialized (
    select w.position, f.name, f.at from ${Columns.numberedRows(columns, "w")}
    cross join lateral (
      select n.name, l.at from ${lanesOfQueue}
      cross join lateral (
        select l.ctid as at from live l
        where l.store = w.store and l.lane = n.lane and l.state = ${delayed} and l.run_at <= w.now
        order by l.run_at limit ${mostAtOnce} for update skip locked
      ) l limit ${mostAtOnce}
    ) f
  ), promoted as (
    update live l set state = ${returned} from due d where l.ctid = d.at
    returning d.position, d.name, l.seq, l.store, l.lane
  ), counted as (
    insert into tally_change (store, lane, waiting, delayed)
    select store, lane, count(*), -count(*) from promoted group by store, lane
  )
  select position::int4, name, seq::float8, pg_current_xact_id()::text from promoted`

/** The parameters of {@link sql}. */
export const parameters = (queues: ReadonlyArray<DueQueue>): ReadonlyArray<unknown> =>
  Columns.parameters(columns, queues)

/** A job that waits now. */
export interface Promoted {
  readonly seq: number
  readonly name: string
  /** The number of the transaction. */
  readonly transaction: string
}

/** The answer of {@link sql}, by the positions of the queues. */
export const decode = (rows: ReadonlyArray<Row>): ReadonlyMap<number, ReadonlyArray<Promoted>> => {
  const promoted = new Map<number, Array<Promoted>>()
  for (const [position, name, seq, transaction] of rows) {
    const queue = Number(position) - 1
    const found = promoted.get(queue)
    const job: Promoted = { seq: Number(seq), name: String(name), transaction: String(transaction) }
    if (found === undefined) promoted.set(queue, [job])
    else found.push(job)
  }
  return promoted
}
