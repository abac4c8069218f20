/** Putting jobs in. */
import { Schema } from "effect"
import { defaulted, maybe } from "./Field.ts"
import { ParentLink, TraceContext } from "./Job.ts"
import { DedupePolicy } from "./Policy.ts"
import { runFields } from "./RunFields.ts"
import { DurationMs, JobId, JobName, QueueName } from "./Scalars.ts"

/**
 * Everything a producer says about a job. `EnqueueRequest.make({ name, queue, payload })` fills the rest: no id (the
 * store draws one), priority 0, one attempt, no delay.
 */
export const EnqueueRequest = Schema.Struct({
  /** When a job with this id exists, in any state, nothing is enqueued. */
  id: maybe(JobId),
  name: JobName,
  queue: QueueName,
  ...runFields,
  dedupe: maybe(DedupePolicy),
  trace: maybe(TraceContext),
  parent: maybe(ParentLink),
  /** More than 0: the job is `delayed` until then. */
  delayMs: defaulted(DurationMs, 0)
}).annotate({ identifier: "EnqueueRequest" })
export type EnqueueRequest = typeof EnqueueRequest.Type

/** The id under which the job is kept; `duplicate` when nothing new was inserted. */
export const EnqueueResult = Schema.Struct({
  id: JobId,
  duplicate: Schema.Boolean
}).annotate({ identifier: "EnqueueResult" })
export type EnqueueResult = typeof EnqueueResult.Type
