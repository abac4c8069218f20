/** Taking a job. */
import type { JobRow } from "./JobRow.ts"
import { wholeMs } from "./Time.ts"

/** The waiting job in the hands of this token. */
export const claim = (row: JobRow, token: string, lockDurationMs: number, now: number): JobRow => ({
  ...row,
  state: "active",
  token,
  lockUntil: now + wholeMs(lockDurationMs),
  processedAt: now
})

/**
 * The job of a claim that is repeated by the token that holds it: the same run, with a lease that lasts at least as long as
 * the repeated call asks for.
 */
export const claimAgain = (row: JobRow, lockDurationMs: number, now: number): JobRow => {
  const lockUntil = now + wholeMs(lockDurationMs)
  return row.lockUntil !== undefined && row.lockUntil >= lockUntil ? row : { ...row, lockUntil }
}
