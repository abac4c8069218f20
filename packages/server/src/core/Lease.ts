/** The lease: who holds an active job, and until when. */
import type { JobRow } from "./JobRow.ts"
import { wholeMs } from "./Time.ts"

/** Whether this token holds the job. A lease that has run out holds until it is recovered. */
export const holds = (row: JobRow, token: string): boolean => row.state === "active" && row.token === token

/** The job with a lease that ends `durationMs` from now. */
export const extend = (row: JobRow, durationMs: number, now: number): JobRow => ({
  ...row,
  lockUntil: now + wholeMs(durationMs)
})
