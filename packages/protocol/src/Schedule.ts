/** Repeated jobs: what is enqueued again and again, and when next. */
import { Schema } from "effect"
import { maybe } from "./Field.ts"
import { runFields } from "./RunFields.ts"
import { DurationMs, EpochMs, JobName, QueueName, ScheduleKey } from "./Scalars.ts"

/**
 * A schedule. Exactly one of `cron` (with an IANA time zone in `tz`) and `everyMs` is set. The store keeps `nextRunAt`;
 * whoever ticks computes the one after it.
 */
export const ScheduleRecord = Schema.Struct({
  key: ScheduleKey,
  jobName: JobName,
  queue: QueueName,
  cron: maybe(Schema.String),
  tz: maybe(Schema.String),
  everyMs: maybe(DurationMs),
  ...runFields,
  /** Who looks after this schedule: a reconciler removes only those of its own group. */
  group: maybe(Schema.String),
  nextRunAt: EpochMs
}).annotate({ identifier: "ScheduleRecord" })
export type ScheduleRecord = typeof ScheduleRecord.Type

/** Filters of `listSchedules`; all that are given must hold. */
export const ScheduleFilter = Schema.Struct({
  jobName: maybe(JobName),
  queue: maybe(QueueName),
  group: maybe(Schema.String)
}).annotate({ identifier: "ScheduleFilter" })
export interface ScheduleFilter extends Partial<typeof ScheduleFilter.Type> {}
