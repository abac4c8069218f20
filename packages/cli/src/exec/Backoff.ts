/** How long a failed run waits before the next. */
import { type BackoffPolicy, Limits } from "@jobwire/protocol"

/** The delay after the run with this number (from 1), in milliseconds, never more than the contract allows. */
export const backoffDelayMs = (policy: BackoffPolicy | undefined, run: number): number => {
  if (policy === undefined) return 0
  const growth = policy._tag === "fixed" ? 1 : (policy.factor ?? 2) ** (run - 1)
  return Math.min(Math.round(policy.delayMs * growth), Limits.defaults.durationMs)
}
