/** Where a job is kept: indexes hold the slot, and a transition puts another row into it. */
import type { AttemptRow, JobRow } from "../../core/JobRow.ts"
import { compareText, type OrderBy, orderValue } from "../../core/Order.ts"
import type { Compare, OrderedIndex } from "./OrderedIndex.ts"

/** One job. Whoever changes `row` first takes the slot out of the indexes whose order the change touches. */
export interface JobSlot {
  row: JobRow
  readonly attempts: Array<AttemptRow>
}

/** An index of jobs. */
export type JobIndex = OrderedIndex<JobSlot>

/** Makes an index; a test counts the comparisons by giving its own. */
export interface MakeIndex {
  <A>(compare: Compare<A>): OrderedIndex<A>
}

/** The order of waiting jobs: priority, then place in line. */
export const byLine: Compare<JobSlot> = (one, other) =>
  other.row.priority - one.row.priority || one.row.place - other.row.place

/** The order of delayed jobs. */
export const byRunAt: Compare<JobSlot> = (one, other) =>
  one.row.runAt - other.row.runAt || one.row.place - other.row.place

/** The order of retention: oldest end first, then oldest job. */
export const byEnd: Compare<JobSlot> = (one, other) =>
  (one.row.finishedAt ?? 0) - (other.row.finishedAt ?? 0) || one.row.seq - other.row.seq

/** The order of a list. */
export const byValue =
  (orderBy: OrderBy): Compare<JobSlot> =>
  (one, other) =>
    orderValue(one.row, orderBy) - orderValue(other.row, orderBy) || compareText(one.row.id, other.row.id)
