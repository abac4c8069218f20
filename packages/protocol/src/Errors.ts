/** What can go wrong, as tagged errors. Over the wire each arrives as the same class. */
import { Schema } from "effect"
import { maybe } from "./Field.ts"
import { JobState } from "./Job.ts"
import { JobId } from "./Scalars.ts"

/** An argument breaks the contract. Nothing happened; the same call will always be refused. */
export const InvalidArgument = Schema.TaggedStruct("InvalidArgument", { field: Schema.String })

/** An argument is longer, bigger or more than the contract allows. Nothing happened. */
export const LimitExceeded = Schema.TaggedStruct("LimitExceeded", {
  field: Schema.String,
  limit: Schema.Finite,
  size: Schema.Finite
})

/** The server did not accept the credentials. Nothing happened. */
export const Unauthorized = Schema.TaggedStruct("Unauthorized", {})

/** The credentials are good, but not for this operation or store. Nothing happened. */
export const Forbidden = Schema.TaggedStruct("Forbidden", { scope: maybe(Schema.String) })

/**
 * The server could not be reached, went away, is stopping or has no room. `sent`: the call may have been carried out.
 * `retryAfterMs`: in how many milliseconds to try again, when the server said so; it draws another time for everybody.
 */
export const Unavailable = Schema.TaggedStruct("Unavailable", {
  url: maybe(Schema.String),
  sent: Schema.Boolean,
  retryAfterMs: Schema.optionalKey(Schema.Finite)
})

/** No answer within the deadline. The call may have been carried out. */
export const DeadlineExceeded = Schema.TaggedStruct("DeadlineExceeded", {
  url: maybe(Schema.String),
  afterMs: Schema.Finite
})

/** The driver failed: a disk, a database, a lock. `transient` when the same call may well succeed later. */
export const DriverFault = Schema.TaggedStruct("DriverFault", { transient: Schema.Boolean })

/** The driver lost its database while that committed. The call may have been carried out. */
export const OutcomeUnknown = Schema.TaggedStruct("OutcomeUnknown", {})

/** The key of this call belongs to another call. Nothing happened. */
export const CallConflict = Schema.TaggedStruct("CallConflict", { key: Schema.String })

/** A fault in the program itself, on either side. */
export const Defect = Schema.TaggedStruct("Defect", {})

/** Why an operation could not be carried out. */
export const JobStoreErrorReason = Schema.Union([
  InvalidArgument,
  LimitExceeded,
  Unauthorized,
  Forbidden,
  Unavailable,
  DeadlineExceeded,
  DriverFault,
  OutcomeUnknown,
  CallConflict,
  Defect
])
export type JobStoreErrorReason = typeof JobStoreErrorReason.Type

/**
 * The operation was refused, or failed for a reason that is not about the job. `message` says what happened, with which
 * value, and what to do; `reason` says it to a program (`Effect.catchReason("JobStoreError", "LimitExceeded", …)`).
 */
export class JobStoreError extends Schema.TaggedError<JobStoreError>()("JobStoreError", {
  message: Schema.String,
  reason: JobStoreErrorReason
}) {
  /** Whether the same call may succeed when it is tried again. */
  get isRetryable(): boolean {
    switch (this.reason._tag) {
      case "Unavailable":
      case "DeadlineExceeded":
      case "OutcomeUnknown":
        return true
      case "DriverFault":
        return this.reason.transient
      default:
        return false
    }
  }

  /** Whether the operation may have been carried out in spite of the error. */
  get mayHaveHappened(): boolean {
    switch (this.reason._tag) {
      case "Unavailable":
        return this.reason.sent
      case "DeadlineExceeded":
      case "OutcomeUnknown":
      case "Defect":
        return true
      default:
        return false
    }
  }
}

/** A {@link JobStoreError} for an argument that breaks the contract: `problem` reads on after the field's name. */
export const invalidArgument = (field: string, problem: string): JobStoreError =>
  new JobStoreError({ message: `${field} ${problem}`, reason: { _tag: "InvalidArgument", field } })

/** A {@link JobStoreError} for an argument over a limit. `unit` names what `size` and `limit` count. */
export const limitExceeded = (field: string, size: number, limit: number, unit: string): JobStoreError =>
  new JobStoreError({
    message: `${field} has ${size} ${unit}, and the limit is ${limit}`,
    reason: { _tag: "LimitExceeded", field, limit, size }
  })

/** A {@link JobStoreError} for a key that was given to another call before. */
export const callConflict = (key: string): JobStoreError =>
  new JobStoreError({
    message: `the key ${JSON.stringify(key)} was given to another call, or to this one with other arguments: draw a key for every call`,
    reason: { _tag: "CallConflict", key }
  })

/** The token does not hold the job: its lease ran out and it was recovered, or it was never this caller's. */
export class LockLostError extends Schema.TaggedError<LockLostError>()("LockLostError", { jobId: JobId }) {
  override get message(): string {
    return `the lock on job ${JSON.stringify(this.jobId)} is lost: it is not active, or another token holds it`
  }
}

/** No job has this id. */
export class JobNotFoundError extends Schema.TaggedError<JobNotFoundError>()("JobNotFoundError", { jobId: JobId }) {
  override get message(): string {
    return `there is no job ${JSON.stringify(this.jobId)}`
  }
}

/** `retry` takes a failed job only. */
export class JobNotRetryableError extends Schema.TaggedError<JobNotRetryableError>()("JobNotRetryableError", {
  jobId: JobId,
  state: JobState
}) {
  override get message(): string {
    return `job ${JSON.stringify(this.jobId)} is ${this.state}: only a failed job can be retried`
  }
}

/** `cancel` does not take a job that has finished. */
export class JobNotCancellableError extends Schema.TaggedError<JobNotCancellableError>()("JobNotCancellableError", {
  jobId: JobId,
  state: JobState
}) {
  override get message(): string {
    return `job ${JSON.stringify(this.jobId)} is ${this.state}: a finished job cannot be cancelled`
  }
}

/** `promote` takes a delayed job only. */
export class JobNotPromotableError extends Schema.TaggedError<JobNotPromotableError>()("JobNotPromotableError", {
  jobId: JobId,
  state: JobState
}) {
  override get message(): string {
    return `job ${JSON.stringify(this.jobId)} is ${this.state}: only a delayed job can be promoted`
  }
}
