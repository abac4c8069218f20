/**
 * Putting in jobs of any stores at once. Numbers are drawn in the order of the items; jobs whose ids may be taken go in by id, so that
 * servers that put in the same ones never wait for each other in a circle.
 */
import type { JobRow } from "../../../core/JobRow.ts"
import * as Columns from "../Columns.ts"
import type { Row } from "../Connections.ts"
import { isPlain, jobFields } from "../JobColumns.ts"
import { queueKey } from "../QueueKey.ts"
import { receiptIs } from "./Lookups.ts"
import { delayed, fresh } from "../RowStates.ts"

/** A new job; its numbers are not drawn yet. */
export interface NewJob {
  readonly store: number
  readonly lane: number
  readonly job: JobRow
}

const jobColumns = jobFields.filter(({ name }) => name !== "seq")

const columns: ReadonlyArray<Columns.Column<NewJob>> = [
  { name: "store", type: "int4", of: ({ store }) => store },
  { name: "lane", type: "int4", of: ({ lane }) => lane },
  { name: "queue_key", type: "int4", of: ({ job }) => queueKey(job.queue) },
  { name: "state", type: "int2", of: ({ job }) => (job.state === "delayed" ? delayed : fresh) },
  { name: "plain", type: "bool", of: ({ job }) => isPlain(job) },
  { name: "run_at", type: "float8", of: ({ job }) => job.runAt },
  ...jobColumns.map(({ name, of, type }): Columns.Column<NewJob> => ({ name, type, of: ({ job }) => of(job) }))
]

const given = (more: string): string =>
  `given as materialized (select nextval('number') as seq, g.* ${more} from ${Columns.rows(columns, "g")})`

const insertJobs = (where: string): string => `
  insert into job (store, seq, ${Columns.names(jobColumns)})
  select g.store, g.seq, ${Columns.values(jobColumns, "g")} from given g ${where}`

// A job of this id was deleted while copies of the call that made it may still come.
const isRemembered = `, ${receiptIs("g.store", "'job ' || g.id")} as is_remembered`

const insertBeside = (jobs: string): string => `
  lived as (
    insert into live
      (store, seq, lane, queue_key, place, state, plain, cancel_requested, attempts_made, stalled_count, ledger_length, run_at)
    select g.store, g.seq, g.lane, g.queue_key, g.seq, g.state, g.plain, false, 0, 0, 0, g.run_at from ${jobs} g
  ), counted as (
    insert into tally_change (store, lane, waiting, delayed)
    select g.store, g.lane, count(*) filter (where g.state = ${fresh}), count(*) filter (where g.state = ${delayed})
    from ${jobs} g group by g.store, g.lane
  )`

/** For jobs whose ids nobody else can have given. */
export const sqlOfOwn = `
  with ${given("")}, jobs as (${insertJobs("")}), ${insertBeside("given")}
  select pg_current_xact_id()::text`

// What went in is found by binary search: a list of numbers that grow needs no join.
/** For jobs whose ids may be taken or remembered: those that are change nothing. */
export const sqlOfAny = `
  with ${given(isRemembered)}, jobs as (
    ${insertJobs("where not g.is_remembered")} order by g.store, g.id, g.seq on conflict (store, id) do nothing returning seq
  ), went as materialized (
    select coalesce(array_agg(seq order by seq), '{}') as seqs from jobs
  ), tried as materialized (
    select g.store, g.seq, g.lane, g.queue_key, g.state, g.plain, g.run_at, g.is_remembered,
      w.seqs[width_bucket(g.seq, w.seqs)] is not distinct from g.seq as is_new
    from given g cross join went w
  ), new as materialized (select * from tried where is_new), ${insertBeside("new")}
  select pg_current_xact_id()::text, array(select case when not is_remembered then is_new end from tried order by seq)`

/** The parameters of either. */
export const parameters = (jobs: ReadonlyArray<NewJob>): ReadonlyArray<unknown> => Columns.parameters(columns, jobs)

/** What became of jobs. */
export interface Enqueued {
  /** The number of the transaction. */
  readonly transaction: string
  /** Whether the job at this position went in; `undefined` where one of its id was deleted a short time ago. */
  readonly isNew: (position: number) => boolean | undefined
}

/** The answer of either. */
export const decode = (rows: ReadonlyArray<Row>): Enqueued => {
  const [transaction, went] = rows[0] ?? []
  return {
    transaction: String(transaction),
    isNew: (position) => {
      if (!Array.isArray(went)) return true
      const isNew: unknown = went[position]
      return typeof isNew === "boolean" ? isNew : undefined
    }
  }
}
