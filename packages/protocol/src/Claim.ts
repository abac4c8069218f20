/** Taking a job, keeping the lease, and saying how the run ended. */
import { Schema } from "effect"
import { JobNotFoundError, JobStoreError, LockLostError } from "./Errors.ts"
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

const emptiness = { nextRunAt: maybe(EpochMs), wakeToken: WakeToken }

/** A job, or nothing: then when the next matching delayed job is due, and the token for `awaitWake`. */
export const ClaimResult = Schema.Union([
  Schema.TaggedStruct("Claimed", { job: JobRecord }),
  Schema.TaggedStruct("Empty", emptiness)
]).annotate({ identifier: "ClaimResult" })
export type ClaimResult = typeof ClaimResult.Type

/** Like {@link ClaimOptions}, with the tokens of as many claims: different ones, at least one. */
export const ClaimManyOptions = Schema.Struct({
  queue: QueueName,
  names: Schema.Array(JobName),
  tokens: Schema.Array(LockToken),
  lockDurationMs: DurationMs
}).annotate({ identifier: "ClaimManyOptions" })
export type ClaimManyOptions = typeof ClaimManyOptions.Type

/** A job and the token that holds it. */
export const ClaimedJob = Schema.Struct({ token: LockToken, job: JobRecord }).annotate({ identifier: "ClaimedJob" })
export type ClaimedJob = typeof ClaimedJob.Type

/**
 * The jobs in the order of their tokens. `empty` is there when a token found nothing, and says what its claim would have
 * said. Without it, fewer jobs than tokens mean that the answer was full: there may be more to claim.
 */
export const ClaimManyResult = Schema.Struct({
  jobs: Schema.Array(ClaimedJob),
  empty: maybe(Schema.Struct(emptiness))
}).annotate({ identifier: "ClaimManyResult" })
export type ClaimManyResult = typeof ClaimManyResult.Type

/** How a run ended. The worker decides about retries and computes their delay; the store applies it. */
export const AckOutcome = Schema.Union([
  Schema.TaggedStruct("Complete", { exit: maybe(JsonValue) }),
  Schema.TaggedStruct("Fail", { exit: maybe(JsonValue) }),
  Schema.TaggedStruct("Retry", { delayMs: DurationMs, exit: maybe(JsonValue) }),
  Schema.TaggedStruct("Cancelled", {}),
  Schema.TaggedStruct("FanOut", { failFast: Schema.Boolean, children: Schema.Array(FlowChildSpec) })
]).annotate({ identifier: "AckOutcome" })
export type AckOutcome = typeof AckOutcome.Type

/** The end of one run among others: what `ack` takes. */
export const Ack = Schema.Struct({ id: JobId, token: LockToken, outcome: AckOutcome }).annotate({ identifier: "Ack" })
export type Ack = typeof Ack.Type

/** What became of one ack among others: `Acked`, or the error that `ack` would have failed with. */
export const AckResult = Schema.Union([
  Schema.TaggedStruct("Acked", {}),
  JobStoreError,
  JobNotFoundError,
  LockLostError
]).annotate({ identifier: "AckResult" })
export type AckResult = typeof AckResult.Type

/** The result of an ack that was carried out, now or before. */
export const acked: AckResult = { _tag: "Acked" }

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
