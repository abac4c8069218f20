/** Which finished jobs a retention policy lets go. */
import type { JobState, KeepPolicy, TerminalState } from "@jobwire/protocol"

/**
 * Of the finished jobs of one name and state: those beyond the newest `count`, and those that finished at or before
 * `finishedUntil`. Newest first goes by `finishedAt`, then by `place`. Parents that still owe cascades are spared.
 */
export interface KeepCut {
  readonly name: string
  readonly state: TerminalState
  readonly count: number | undefined
  readonly finishedUntil: number | undefined
}

/** The cut that a job's own policy makes when it enters a terminal state, or `undefined` when it has none for it. */
export const keepCut = (
  job: { readonly name: string; readonly keep: KeepPolicy | undefined },
  state: TerminalState,
  now: number
): KeepCut | undefined => {
  const rule = job.keep?.[state]
  if (rule === undefined || (rule.count === undefined && rule.ageMs === undefined)) return undefined
  return {
    name: job.name,
    state,
    count: rule.count,
    finishedUntil: rule.ageMs === undefined ? undefined : now - rule.ageMs
  }
}

/** A store's ceiling in milliseconds for each terminal state; an absent state has none. */
export type HistoryTtl = Partial<Readonly<Record<TerminalState, number>>>

/** Whether the timed sweep lets a job go: it is older than the stricter of its own age rule and the store's ceiling. */
export const isExpired = (
  job: { readonly state: JobState; readonly finishedAt: number | undefined; readonly keep: KeepPolicy | undefined },
  ttl: HistoryTtl,
  now: number
): boolean => {
  if (job.finishedAt === undefined) return false
  if (job.state !== "completed" && job.state !== "failed" && job.state !== "cancelled") return false
  const age = Math.min(ttl[job.state] ?? Infinity, job.keep?.[job.state]?.ageMs ?? Infinity)
  return job.finishedAt <= now - age
}
