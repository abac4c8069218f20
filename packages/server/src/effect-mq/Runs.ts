/**
 * What the wrapper remembers of the claims and acks that went through it, so that one delivered twice is carried out once.
 * effect-mq's drivers know nothing of repeats: there a second claim under a token takes a second job.
 *
 * The memory is one of this process, and bounded. A repeat that reaches another process or comes after a restart gets the
 * driver's own answer.
 */
import type { AckOutcome, JobId, LockToken, QueueName } from "@jobwire/protocol"
import { Effect, Hash, Semaphore } from "effect"
import { makeRecent } from "./Recent.ts"

/** The job that a token claimed in each queue. */
export type Claims = Map<QueueName, JobId>

/** The memory of one wrapper. */
export interface Runs {
  /**
   * Runs a call about a token, with what it claimed. One call at a time for a token, and none is interrupted halfway: a
   * caller that goes away comes back with the same token, waits for the first call, and then finds out what happened.
   */
  readonly withToken: <A, E>(token: LockToken, call: (claims: Claims) => Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** The {@link fingerprint} of the outcome by which the token ended a run of the job, if it did. */
  readonly settlement: (id: JobId, token: LockToken) => string | undefined
  readonly settle: (id: JobId, token: LockToken, outcome: AckOutcome) => void
  /** The token has claimed the job again. */
  readonly unsettle: (id: JobId, token: LockToken) => void
  /** The id belongs to a new job, which has run under no token. */
  readonly forget: (id: JobId) => void
}

interface Entry {
  readonly claims: Claims
  readonly gate: Semaphore.Semaphore
  /** Calls that run or wait at the gate. */
  calls: number
}

/** How many tokens and jobs are remembered: leases end in seconds, and a repeat comes within a call's deadline. */
const defaultCapacity = 20_000

/** What is kept of an outcome, which may be large: enough to tell it from another one. */
export const fingerprint = (outcome: AckOutcome): string => {
  const text = JSON.stringify(outcome)
  return `${text.length}.${Hash.string(text)}`
}

/** Remembers the `capacity` tokens and jobs that were used last. */
export const makeRuns = (capacity: number = defaultCapacity): Runs => {
  const entries = makeRecent<LockToken, Entry>(capacity)
  const settlements = makeRecent<JobId, Map<LockToken, string>>(capacity)

  const enter = (token: LockToken): Entry => {
    const entry = entries.get(token) ?? { claims: new Map(), gate: Semaphore.makeUnsafe(1), calls: 0 }
    entry.calls += 1
    entries.set(token, entry)
    return entry
  }

  const leave = (token: LockToken, entry: Entry) =>
    Effect.sync(() => {
      entry.calls -= 1
      // A claim that found nothing leaves nothing to remember.
      const isEmpty = entry.calls === 0 && entry.claims.size === 0
      if (isEmpty && entries.get(token) === entry) entries.delete(token)
    })

  return {
    withToken: (token, call) =>
      Effect.suspend(() => {
        const entry = enter(token)
        return entry.gate
          .withPermits(1)(Effect.uninterruptible(Effect.suspend(() => call(entry.claims))))
          .pipe(Effect.ensuring(leave(token, entry)))
      }),
    settlement: (id, token) => settlements.get(id)?.get(token),
    settle: (id, token, outcome) => {
      const ofJob = settlements.get(id) ?? new Map<LockToken, string>()
      settlements.set(id, ofJob.set(token, fingerprint(outcome)))
    },
    unsettle: (id, token) => void settlements.get(id)?.delete(token),
    forget: settlements.delete
  }
}
