/** Where a job is kept: indexes hold the slot, and a transition puts another row into it. */
import type { AttemptRow, JobRow } from "../../core/JobRow.ts"
import { compareText } from "../../core/Order.ts"
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

/** The order of delayed jobs in their lane. */
export const byDueTime: Compare<JobSlot> = (one, other) =>
  one.row.runAt - other.row.runAt || one.row.place - other.row.place

/** The order of retention: oldest end first, then first in line. */
export const byEnd: Compare<JobSlot> = (one, other) =>
  (one.row.finishedAt ?? 0) - (other.row.finishedAt ?? 0) || one.row.place - other.row.place

/** The orders of lists. */
export const byEnqueuedAt: Compare<JobSlot> = (one, other) =>
  one.row.enqueuedAt - other.row.enqueuedAt || compareText(one.row.id, other.row.id)

export const byRunAt: Compare<JobSlot> = (one, other) =>
  one.row.runAt - other.row.runAt || compareText(one.row.id, other.row.id)

export const byFinishedAt: Compare<JobSlot> = (one, other) =>
  (one.row.finishedAt ?? 0) - (other.row.finishedAt ?? 0) || compareText(one.row.id, other.row.id)
