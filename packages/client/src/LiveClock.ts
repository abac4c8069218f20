/**
 * The clock of the transports: the machine's own, whatever clock the application runs on. A test that moves its `TestClock`
 * by an hour must not break the socket it talks through.
 */
import { Clock, Duration, Effect } from "effect"

const clock: Clock.Clock = Clock.Clock.defaultValue()

/** Milliseconds that only grow, from an origin of no meaning. */
export const now = (): number => Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000

/** Waits for so many real milliseconds. */
export const sleep = (ms: number): Effect.Effect<void> => clock.sleep(Duration.millis(ms))

/** Runs an effect, with all timers in it, on the machine's clock. */
export const live: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  Clock.Clock,
  clock
)
