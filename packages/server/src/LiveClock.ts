/**
 * The machine's own clock, whatever clock the program runs on. Jobs live on the Effect `Clock`, which a test may hold or
 * turn; sockets, holds and grace times are about the network, and must not move with it.
 */
import { Clock, Duration, Effect } from "effect"

/** The machine's clock. */
export const clock: Clock.Clock = Clock.Clock.defaultValue()

/** Waits on the machine's clock. */
export const sleep = (duration: Duration.Input): Effect.Effect<void> => clock.sleep(Duration.fromInputUnsafe(duration))

/** Runs an effect by the machine's clock. */
export const withLive = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Clock.Clock, clock)
