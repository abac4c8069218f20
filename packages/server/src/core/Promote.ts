/** From delayed to waiting: when the time has come, or by hand. Both keep the place in line. */
import { JobNotPromotableError } from "@jobwire/protocol"
import { Result } from "effect"
import type { Decision } from "./Decision.ts"
import type { JobRow } from "./JobRow.ts"

/** A delayed job whose time has come. Whoever promotes it calls the takers, but for itself. */
export const promoteDue = (row: JobRow): Decision => ({ row: { ...row, state: "waiting" } })

/** A delayed job that somebody wants to run now. */
export const promote = (row: JobRow, now: number): Result.Result<Decision, JobNotPromotableError> =>
  row.state === "delayed"
    ? Result.succeed({ row: { ...row, state: "waiting", runAt: now }, wakes: true })
    : Result.fail(new JobNotPromotableError({ jobId: row.id, state: row.state }))
