/**
 * A job that stands for every plain one. A statement changes rows that this process has not seen; what it writes into them is what the
 * core does to this job, so that nothing is decided twice.
 */
import { type AckOutcome, isTerminal } from "@jobwire/protocol"
import { acknowledge } from "../../../core/Ack.ts"
import { claim } from "../../../core/Claim.ts"
import { newJob } from "../../../core/Enqueue.ts"
import type { AttemptRow, JobRow } from "../../../core/JobRow.ts"
import { extend } from "../../../core/Lease.ts"

const waiting: JobRow = newJob(
  "any",
  0,
  {
    id: undefined,
    name: "any",
    queue: "any",
    payload: undefined,
    metadata: {},
    priority: 0,
    attemptsMax: 1,
    delayMs: 0,
    backoff: undefined,
    keep: undefined,
    timeoutMs: undefined,
    dedupe: undefined,
    trace: undefined,
    parent: undefined
  },
  0
)

/** When the lease of a job ends that is claimed now. */
export const lockUntil = (lockDurationMs: number, now: number): number =>
  leaseEnd(claim(waiting, "any", lockDurationMs, now))

/** When the lease of a job ends that is extended now. */
export const extendedUntil = (durationMs: number, now: number): number => leaseEnd(extend(waiting, durationMs, now))

// Both give the job a lease.
const leaseEnd = (job: JobRow): number => job.lockUntil as number

/** What an ack makes of a job that it finishes. */
export interface Ending {
  readonly job: JobRow
  /** The ledger entry. */
  readonly entry: AttemptRow
}

/** What an ack makes of a plain job that its token holds; `undefined` when that is not its end. */
export const endingOf = (token: string, outcome: AckOutcome, now: number): Ending | undefined => {
  if (outcome._tag === "FanOut") return undefined
  const { attempt, row } = acknowledge(waiting, token, outcome, now)
  return attempt !== undefined && isTerminal(row.state) ? { job: row, entry: attempt } : undefined
}
