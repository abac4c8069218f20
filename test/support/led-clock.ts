/**
 * A clock that stands where it was last set. A server in another process runs on it, so that the test's own clock leads
 * both. It exists for tests only.
 */
import { type Clock, type Duration, Effect } from "effect"

/** The clock and the way to set it. */
export interface LedClock {
  readonly clock: Clock.Clock
  readonly set: (millis: number) => void
}

/** A clock that stands at 0 until it is set. Nothing sleeps on it: the store reads times, and never waits for one. */
export const make = (): LedClock => {
  let now = 0
  const nanos = () => BigInt(now) * 1_000_000n
  return {
    clock: {
      currentTimeMillisUnsafe: () => now,
      currentTimeMillis: Effect.sync(() => now),
      currentTimeNanosUnsafe: nanos,
      currentTimeNanos: Effect.sync(nanos),
      monotonicTimeNanosUnsafe: nanos,
      monotonicTimeNanos: Effect.sync(nanos),
      sleep: (_duration: Duration.Duration) => Effect.never
    },
    set: (millis) => {
      now = millis
    }
  }
}
