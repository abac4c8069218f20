/** Our errors as effect-mq's: the same tags, its own classes. */
import type {
  JobNotCancellableError,
  JobNotFoundError,
  JobNotPromotableError,
  JobNotRetryableError,
  JobStoreError,
  LockLostError
} from "@jobwire/protocol"
import { JobStore as Theirs } from "effect-mq"

type Ours =
  | JobStoreError
  | LockLostError
  | JobNotFoundError
  | JobNotRetryableError
  | JobNotCancellableError
  | JobNotPromotableError

interface TheirsByTag {
  readonly JobStoreError: Theirs.JobStoreError
  readonly LockLostError: Theirs.LockLostError
  readonly JobNotFoundError: Theirs.JobNotFoundError
  readonly JobNotRetryableError: Theirs.JobNotRetryableError
  readonly JobNotCancellableError: Theirs.JobNotCancellableError
  readonly JobNotPromotableError: Theirs.JobNotPromotableError
}

/** effect-mq's error of the same tag. */
export type TheirError<Error extends Ours> = TheirsByTag[Error["_tag"]]

const convert = (error: Ours): TheirsByTag[Ours["_tag"]] => {
  switch (error._tag) {
    case "JobStoreError":
      return new Theirs.JobStoreError({ message: error.message, cause: error })
    case "LockLostError":
      return new Theirs.LockLostError({ jobId: Theirs.JobId(error.jobId) })
    case "JobNotFoundError":
      return new Theirs.JobNotFoundError({ jobId: Theirs.JobId(error.jobId) })
    case "JobNotRetryableError":
      return new Theirs.JobNotRetryableError({ jobId: Theirs.JobId(error.jobId), state: error.state })
    case "JobNotCancellableError":
      return new Theirs.JobNotCancellableError({ jobId: Theirs.JobId(error.jobId), state: error.state })
    case "JobNotPromotableError":
      return new Theirs.JobNotPromotableError({ jobId: Theirs.JobId(error.jobId), state: error.state })
  }
}

/** effect-mq's error for ours. A `JobStoreError` keeps its message, and has ours as its `cause`. */
// `convert` answers each tag with the class of the same tag, which a switch cannot tell the compiler.
export const toTheirError = <Error extends Ours>(error: Error): TheirError<Error> => convert(error) as TheirError<Error>
