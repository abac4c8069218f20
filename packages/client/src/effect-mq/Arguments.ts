/**
 * What effect-mq passes, as our contract takes it. effect-mq lets numbers through that mean "no limit" or "never"
 * (`Infinity` retries, a backoff that has grown past all years, a retention without end): these become the nearest value
 * that the contract has. What has no such meaning, like half a priority, stays as it is and is refused by name.
 */
import type {
  AckOutcome,
  BackoffPolicy,
  DedupePolicy,
  EnqueueRequest,
  KeepPolicy,
  KeepRule,
  Limits,
  ScheduleRecord
} from "@jobwire/protocol"
import type { JobStore as Theirs } from "effect-mq"

// The largest count that the contract takes: a 32-bit integer.
const largestCount = 2_147_483_647

// NaN passes through both, and is then refused.
const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most)

/** Milliseconds from 0 to the limit; `Infinity` becomes the limit, a hundred years unless changed. */
export const toDuration = (ms: number, limits: Limits.Limits): number => clamp(ms, 0, limits.durationMs)

/** A whole number of at least `least`: a fraction is cut off, `Infinity` becomes the largest. */
export const toCount = (count: number, least = 0): number => clamp(Math.floor(count), least, largestCount)

type Maybe<A> = A | undefined

const toOptionalDuration = (ms: Maybe<number>, limits: Limits.Limits): Maybe<number> =>
  ms === undefined ? undefined : toDuration(ms, limits)

const toBackoff = (policy: Maybe<Theirs.BackoffPolicy>, limits: Limits.Limits): Maybe<BackoffPolicy> =>
  policy === undefined
    ? undefined
    : { _tag: policy._tag, delayMs: toDuration(policy.delayMs, limits), factor: policy.factor }

const toKeepRule = (rule: Maybe<Theirs.KeepStatePolicy>, limits: Limits.Limits): Maybe<KeepRule> =>
  rule === undefined
    ? undefined
    : {
        count: rule.count === undefined ? undefined : toCount(rule.count),
        ageMs: toOptionalDuration(rule.ageMs, limits)
      }

const toKeep = (policy: Maybe<Theirs.KeepPolicy>, limits: Limits.Limits): Maybe<KeepPolicy> =>
  policy === undefined
    ? undefined
    : {
        completed: toKeepRule(policy.completed, limits),
        failed: toKeepRule(policy.failed, limits),
        cancelled: toKeepRule(policy.cancelled, limits)
      }

const toDedupe = (policy: Maybe<Theirs.DedupePolicy>, limits: Limits.Limits): Maybe<DedupePolicy> =>
  policy === undefined ? undefined : { ...policy, ttlMs: toOptionalDuration(policy.ttlMs, limits) }

const toShared = (
  value: Pick<Theirs.EnqueueRequest, "attemptsMax" | "backoff" | "keep" | "timeoutMs">,
  limits: Limits.Limits
) => ({
  attemptsMax: Math.min(value.attemptsMax, largestCount),
  backoff: toBackoff(value.backoff, limits),
  keep: toKeep(value.keep, limits),
  timeoutMs: toOptionalDuration(value.timeoutMs, limits)
})

/** An enqueue request. */
export const toRequest = (request: Theirs.EnqueueRequest, limits: Limits.Limits): EnqueueRequest => ({
  ...request,
  ...toShared(request, limits),
  dedupe: toDedupe(request.dedupe, limits),
  delayMs: toDuration(request.delayMs, limits)
})

/** A schedule. */
export const toSchedule = (schedule: Theirs.ScheduleRecord, limits: Limits.Limits): ScheduleRecord => ({
  ...schedule,
  ...toShared(schedule, limits),
  everyMs: toOptionalDuration(schedule.everyMs, limits)
})

/** How a run ended. A retry delay that a backoff of 0 times infinity made is 0. */
export const toOutcome = (outcome: Theirs.AckOutcome, limits: Limits.Limits): AckOutcome => {
  switch (outcome._tag) {
    case "Retry":
      return { ...outcome, delayMs: Number.isNaN(outcome.delayMs) ? 0 : toDuration(outcome.delayMs, limits) }
    case "FanOut":
      return {
        ...outcome,
        children: outcome.children.map((child) => ({ ...child, request: toRequest(child.request, limits) }))
      }
    default:
      return outcome
  }
}
