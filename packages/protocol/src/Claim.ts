/** Taking a job, keeping the lease, and saying how the run ended. */
import { Schema } from "effect"
import { maybe } from "./Field.ts"
import { FlowChildSpec } from "./Flow.ts"
import { JobRecord } from "./Job.ts"
import { JsonValue } from "./Json.ts"
import { DurationMs, EpochMs, JobId, JobName, LockToken, QueueName, WakeToken } from "./Scalars.ts"

/** Which queue and names to take from, under which token, and for how long without a heartbeat. */
export const ClaimOptions = Schema.Struct({
  queue: QueueName,
  names: Schema.Array(JobName),
  token: LockToken,
  lockDurationMs: DurationMs
}).annotate({ identifier: "ClaimOptions" })
export type ClaimOptions = typeof ClaimOptions.Type

/** A job, or nothing: then when the next matching delayed job is due, and the token for `awaitWake`. */
export const ClaimResult = Schema.Union([
  Schema.TaggedStruct("Claimed", { job: JobRecord }),
  Schema.TaggedStruct("Empty", { nextRunAt: maybe(EpochMs), wakeToken: WakeToken })
]).annotate({ identifier: "ClaimResult" })
export type ClaimResult = typeof ClaimResult.Type

/** How a run ended. The worker decides about retries and computes their delay; the store applies it. */
export const AckOutcome = Schema.Union([
  Schema.TaggedStruct("Complete", { exit: maybe(JsonValue) }),
  Schema.TaggedStruct("Fail", { exit: maybe(JsonValue) }),
  Schema.TaggedStruct("Retry", { delayMs: DurationMs, exit: maybe(JsonValue) }),
  Schema.TaggedStruct("Cancelled", {}),
  Schema.TaggedStruct("FanOut", { failFast: Schema.Boolean, children: Schema.Array(FlowChildSpec) })
]).annotate({ identifier: "AckOutcome" })
export type AckOutcome = typeof AckOutcome.Type

/** A claimed job and the token it was claimed with. */
export const Lock = Schema.Struct({ id: JobId, token: LockToken }).annotate({ identifier: "Lock" })
export type Lock = typeof Lock.Type

/** The answer to a heartbeat: jobs that are no longer the caller's, and jobs somebody wants cancelled. */
export const ExtendLocksResult = Schema.Struct({
  lost: Schema.Array(JobId),
  cancelRequested: Schema.Array(JobId)
}).annotate({ identifier: "ExtendLocksResult" })
export type ExtendLocksResult = typeof ExtendLocksResult.Type

/** Past how many stalls a job fails instead of running again. */
export const RecoverStalledOptions = Schema.Struct({ maxStalledCount: Schema.Int }).annotate({
  identifier: "RecoverStalledOptions"
})
export type RecoverStalledOptions = typeof RecoverStalledOptions.Type

/** A job whose lease had run out, and whether that failed it. */
export const RecoveredJob = Schema.Struct({ id: JobId, failed: Schema.Boolean }).annotate({
  identifier: "RecoveredJob"
})
export type RecoveredJob = typeof RecoveredJob.Type
