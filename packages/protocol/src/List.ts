/** Looking at jobs: filters, order, pages and counts. */
import { Schema } from "effect"
import { maybe } from "./Field.ts"
import { JobRecord, JobState } from "./Job.ts"
import { Cursor, JobName, Metadata, QueueName } from "./Scalars.ts"

/**
 * Which jobs, in which order. All filters must hold; an empty `states` matches nothing; every entry of `metadata` must be
 * equal. Ties are ordered by id in the same direction. Rows without the ordering field count as 0.
 */
export const ListOptions = Schema.Struct({
  queue: maybe(QueueName),
  name: maybe(JobName),
  states: maybe(Schema.Array(JobState)),
  metadata: maybe(Metadata),
  /** `enqueuedAt` unless given. */
  orderBy: maybe(Schema.Literals(["enqueuedAt", "runAt", "finishedAt"])),
  /** `desc` unless given. */
  order: maybe(Schema.Literals(["asc", "desc"])),
  cursor: maybe(Cursor),
  /** 50 unless given. */
  limit: maybe(Schema.Int)
}).annotate({ identifier: "ListOptions" })
export interface ListOptions extends Partial<typeof ListOptions.Type> {}

/** One page; `cursor` is present when more may follow. */
export const ListResult = Schema.Struct({
  items: Schema.Array(JobRecord),
  cursor: maybe(Cursor)
}).annotate({ identifier: "ListResult" })
export type ListResult = typeof ListResult.Type

/** A number for each state. */
export const JobCounts = Schema.Struct({
  waiting: Schema.Int,
  delayed: Schema.Int,
  active: Schema.Int,
  "waiting-children": Schema.Int,
  completed: Schema.Int,
  failed: Schema.Int,
  cancelled: Schema.Int
}).annotate({ identifier: "JobCounts" })
export type JobCounts = typeof JobCounts.Type
