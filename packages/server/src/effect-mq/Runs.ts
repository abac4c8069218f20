/**
 * What the wrapper remembers of the claims that went through it, so that a claim or an ack delivered twice is carried out
 * once. effect-mq's drivers know nothing of repeats: there a second claim under a token takes a second job.
 *
 * The memory is one of this process, and bounded. A repeat that reaches another process or comes after a restart gets the
 * driver's own answer.
 */
import type { AckOutcome, JobId, LockToken, QueueName } from "@jobwire/protocol"
import { Effect, Hash, Semaphore } from "effect"

/** What one token did. */
export interface Run {
  /** The job it claimed in each queue. */
  readonly claimed: Map<QueueName, JobId>
  /** The fingerprint of the ack that it ended a job with. */
  readonly settled: Map<JobId, string>
}

interface Entry {
  readonly run: Run
  /** One call at a time for a token: a repeat waits for the end of the first. */
  readonly gate: Semaphore.Semaphore
  /** Calls that run or wait at the gate. */
  calls: number
}

/** The runs of one wrapper. */
export interface Runs {
  /**
   * Runs a call about a token, with what is known of it. The call is not interrupted halfway: a caller that goes away
   * comes back with the same token, and must then find out what happened.
   */
  readonly withRun: <A, E>(token: LockToken, call: (run: Run) => Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/** How many tokens are remembered: leases end in seconds, and a repeat comes within a call's deadline. */
const defaultCapacity = 20_000

/** Remembers the `capacity` tokens that were used last. */
export const makeRuns = (capacity: number = defaultCapacity): Runs => {
  const entries = new Map<LockToken, Entry>()

  const use = (token: LockToken): Entry => {
    const entry = entries.get(token) ?? {
      run: { claimed: new Map(), settled: new Map() },
      gate: Semaphore.makeUnsafe(1),
      calls: 0
    }
    entry.calls += 1
    // A map keeps the order of insertion, so the first key is the one that was used longest ago.
    entries.delete(token)
    entries.set(token, entry)
    if (entries.size > capacity) {
      const [oldest] = entries.keys()
      if (oldest !== undefined) entries.delete(oldest)
    }
    return entry
  }

  const leave = (token: LockToken, entry: Entry) =>
    Effect.sync(() => {
      entry.calls -= 1
      // A claim that found nothing leaves nothing to remember.
      const isEmpty = entry.run.claimed.size === 0 && entry.run.settled.size === 0
      if (entry.calls === 0 && isEmpty && entries.get(token) === entry) entries.delete(token)
    })

  return {
    withRun: (token, call) =>
      Effect.suspend(() => {
        const entry = use(token)
        return entry.gate
          .withPermits(1)(Effect.uninterruptible(Effect.suspend(() => call(entry.run))))
          .pipe(Effect.ensuring(leave(token, entry)))
      })
  }
}

/** What is compared to tell the same ack from another one. */
export const fingerprint = (outcome: AckOutcome): string => {
  const text = JSON.stringify(outcome)
  return `${outcome._tag}.${text.length}.${Hash.string(text)}`
}
