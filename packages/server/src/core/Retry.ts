/** Running a failed job again by hand. */
import { JobNotRetryableError } from "@jobwire/protocol"
import { Result } from "effect"
import type { Decision } from "./Decision.ts"
import type { JobRow } from "./JobRow.ts"

/** At the back of the line, with fresh attempts and stalls and without its end; ledger and flow are kept. */
export const retry = (row: JobRow, now: number): Result.Result<Decision, JobNotRetryableError> =>
  row.state === "failed"
    ? Result.succeed({
        row: {
          ...row,
          state: "waiting",
          attemptsMade: 0,
          stalledCount: 0,
          cancelRequested: false,
          runAt: now,
          processedAt: undefined,
          finishedAt: undefined,
          exit: undefined,
          failedReason: undefined
        },
        toBack: true,
        wakes: true
      })
    : Result.fail(new JobNotRetryableError({ jobId: row.id, state: row.state }))
