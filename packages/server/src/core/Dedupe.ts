/** Who holds a dedupe key, and what that means for an enqueue under it. */
import { type DedupePolicy, isTerminal } from "@jobwire/protocol"
import type { DedupeRow, JobRow } from "./JobRow.ts"
import { wholeMs } from "./Time.ts"

/**
 * What the rules say of an enqueue under a key: it is `Free` to insert, it is `Held` by a job, or it shall `Replace` what
 * the delayed job `keyed` will do. `entry` is what the key's row becomes, when it changes.
 */
export type Verdict =
  | { readonly _tag: "Free" }
  | { readonly _tag: "Held"; readonly jobId: string; readonly entry: DedupeRow | undefined }
  | { readonly _tag: "Replace"; readonly keyed: JobRow; readonly entry: DedupeRow | undefined }

const free: Verdict = { _tag: "Free" }

/**
 * The job of a key, from the job that now has the id its row names: that may be a later one, when the first was removed within
 * its window.
 */
export const keyedBy = (entry: DedupeRow, named: JobRow | undefined): JobRow | undefined =>
  named?.name === entry.name && named.dedupeKey === entry.key ? named : undefined

/** The verdict on an enqueue, from the key's row and the job that now has the id this row names. */
export const judge = (
  policy: DedupePolicy,
  entry: DedupeRow | undefined,
  named: JobRow | undefined,
  now: number
): Verdict => {
  if (entry === undefined) return free
  const keyed = keyedBy(entry, named)
  if (policy.replace && keyed?.state === "delayed") {
    return { _tag: "Replace", keyed, entry: withWindow(entry, policy, now) }
  }
  if (hasWindow(entry, now)) {
    return { _tag: "Held", jobId: entry.jobId, entry: policy.extend ? withWindow(entry, policy, now) : undefined }
  }
  return isPending(entry, keyed) ? { _tag: "Held", jobId: entry.jobId, entry: undefined } : free
}

const hasWindow = (entry: DedupeRow, now: number): boolean => entry.expiresAt !== undefined && now < entry.expiresAt

const isPending = (entry: DedupeRow, keyed: JobRow | undefined): boolean =>
  entry.expiresAt === undefined && keyed !== undefined && !isTerminal(keyed.state)

const withWindow = (entry: DedupeRow, policy: DedupePolicy, now: number): DedupeRow | undefined =>
  policy.ttlMs === undefined ? undefined : { ...entry, expiresAt: now + wholeMs(policy.ttlMs) }

/** The row of a key that a new job takes. */
export const take = (name: string, policy: DedupePolicy, jobId: string, now: number): DedupeRow => ({
  name,
  key: policy.key,
  jobId,
  expiresAt: policy.ttlMs === undefined ? undefined : now + wholeMs(policy.ttlMs)
})

/** Whether the end or the deletion of this job frees the key: it is the job's own, and no window outlasts it. */
export const isFreedBy = (entry: DedupeRow | undefined, jobId: string, now: number): boolean =>
  entry !== undefined && entry.jobId === jobId && !hasWindow(entry, now)

/**
 * Whether the row can be forgotten: its window is over, and its job cannot be replaced or cancelled by the key any more, as it is
 * gone or finished for good. (A failed one may be retried.) A row without a window goes with its job.
 */
export const isOver = (entry: DedupeRow, named: JobRow | undefined, now: number): boolean => {
  if (entry.expiresAt === undefined || hasWindow(entry, now)) return false
  const keyed = keyedBy(entry, named)
  return keyed === undefined || keyed.state === "completed" || keyed.state === "cancelled"
}
