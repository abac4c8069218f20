/** effect-mq's errors as ours: the same tags, our classes. */
import {
  invalidArgument,
  JobNotCancellableError,
  JobNotFoundError,
  JobNotPromotableError,
  JobNotRetryableError,
  JobStoreError,
  LockLostError
} from "@jobwire/protocol"
import { Cause, Effect, Predicate } from "effect"
import type { JobStore as Theirs } from "effect-mq"

type TheirError =
  | Theirs.JobStoreError
  | Theirs.LockLostError
  | Theirs.JobNotFoundError
  | Theirs.JobNotRetryableError
  | Theirs.JobNotCancellableError
  | Theirs.JobNotPromotableError

interface OursByTag {
  readonly JobStoreError: JobStoreError
  readonly LockLostError: LockLostError
  readonly JobNotFoundError: JobNotFoundError
  readonly JobNotRetryableError: JobNotRetryableError
  readonly JobNotCancellableError: JobNotCancellableError
  readonly JobNotPromotableError: JobNotPromotableError
}

/** Our error of the same tag. */
export type OurError<Error extends TheirError> = OursByTag[Error["_tag"]]

const convert = (error: TheirError): OursByTag[TheirError["_tag"]] => {
  switch (error._tag) {
    case "JobStoreError":
      // effect-mq does not say which of its faults pass, and its own worker tries all of them again.
      return new JobStoreError({ message: error.message, reason: { _tag: "DriverFault", transient: true } })
    case "LockLostError":
      return new LockLostError({ jobId: error.jobId })
    case "JobNotFoundError":
      return new JobNotFoundError({ jobId: error.jobId })
    case "JobNotRetryableError":
      return new JobNotRetryableError({ jobId: error.jobId, state: error.state })
    case "JobNotCancellableError":
      return new JobNotCancellableError({ jobId: error.jobId, state: error.state })
    case "JobNotPromotableError":
      return new JobNotPromotableError({ jobId: error.jobId, state: error.state })
  }
}

/** Our error for effect-mq's. */
// `convert` answers each tag with the class of the same tag, which a switch cannot tell the compiler.
export const toOurError = <Error extends TheirError>(error: Error): OurError<Error> => convert(error) as OurError<Error>

// By tag, so that it is recognised from another copy of the package too.
const isUnsupportedOrder = (defect: unknown): defect is Theirs.ListOrderUnsupportedError =>
  Predicate.isTagged(defect, "ListOrderUnsupportedError")

/**
 * effect-mq's drivers throw an order of `list` that they cannot serve as a defect. Here it is an argument that is refused;
 * every other defect stays one.
 */
export const refuseUnsupportedOrder = <A, E>(list: Effect.Effect<A, E>): Effect.Effect<A, E | JobStoreError> =>
  Effect.catchDefect(list, (defect) =>
    isUnsupportedOrder(defect)
      ? Effect.fail(
          invalidArgument(
            "options.orderBy",
            `is ${JSON.stringify(defect.orderBy)}, which the driver refuses: ${defect.message}`
          )
        )
      : Effect.die(defect)
  )

/** Logs why a driver failed, which our error, made to travel, does not carry. */
export const logFault = (operation: string, error: TheirError): Effect.Effect<void> =>
  error._tag === "JobStoreError" && error.cause !== undefined
    ? Effect.logWarning(`${operation} failed in the effect-mq driver`, Cause.fail(error.cause))
    : Effect.void
