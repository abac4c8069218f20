/** Cancelling a job. */
import { JobNotCancellableError } from "@jobwire/protocol"
import { Result } from "effect"
import type { Decision } from "./Decision.ts"
import type { JobRow } from "./JobRow.ts"
import { terminate } from "./Terminal.ts"

/** At once when nobody runs it; a request to its worker when somebody does. */
export const cancel = (row: JobRow, now: number): Result.Result<Decision, JobNotCancellableError> => {
  switch (row.state) {
    case "waiting":
    case "delayed":
    case "waiting-children":
      return Result.succeed(terminate(row, "cancelled", now))
    case "active":
      return Result.succeed({ row: { ...row, cancelRequested: true } })
    default:
      return Result.fail(new JobNotCancellableError({ jobId: row.id, state: row.state }))
  }
}
