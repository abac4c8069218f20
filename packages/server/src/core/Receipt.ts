/**
 * What is remembered of calls beyond what jobs themselves remember: answers under the keys of calls, and of jobs that are deleted while
 * copies of the calls about them may still be on their way.
 */
import type { AckOutcome } from "@jobwire/protocol"
import type { JobRow } from "./JobRow.ts"

/** How long a receipt is kept, in milliseconds of the store's clock. A caller tries again for far less. */
export const keptForMs = 600_000

/** One receipt. */
export interface ReceiptRow {
  readonly key: string
  /** The digest of what was asked under the key; empty where the key says it all. */
  readonly body: string
  /** JSON text. */
  readonly answer: string
  /** Until when it holds, in epoch milliseconds. */
  readonly expiresAt: number
}

/** The key of the answer of a call. */
export const callKey = (call: string): string => `call ${call}`

/** The key of what is remembered of a deleted job. */
export const jobKey = (id: string): string => `job ${id}`

/** Whether it holds still. */
export const holds = (receipt: ReceiptRow | undefined, now: number): receipt is ReceiptRow =>
  receipt !== undefined && now < receipt.expiresAt

/** A receipt that holds from now on. */
export const receipt = (key: string, body: string, answer: string, now: number): ReceiptRow => ({
  key,
  body,
  answer,
  expiresAt: now + keptForMs
})

/** The last run of a deleted job, as far as it was ended by an ack. */
export interface LastRun {
  readonly token: string
  readonly acked: AckOutcome["_tag"]
}

/** Whether copies of calls about a job that is deleted now may still be on their way. */
export const isYoung = (row: JobRow, now: number): boolean => now - (row.finishedAt ?? row.enqueuedAt) < keptForMs

/** What is remembered of a job that is deleted young. */
export const ofDeleted = (row: JobRow, lastRun: LastRun | undefined, now: number): ReceiptRow =>
  receipt(jobKey(row.id), row.call ?? "", JSON.stringify(lastRun ?? null), now)

/** The last run of the job that this is remembered of. */
export const lastRunOf = (row: ReceiptRow): LastRun | undefined =>
  // It was written by `ofDeleted`.
  (JSON.parse(row.answer) as LastRun | null) ?? undefined
