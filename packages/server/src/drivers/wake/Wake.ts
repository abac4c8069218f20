/** What an engine needs of wake-ups, whether its store belongs to one process or to a fleet. */
import type { Effect } from "effect"
import type { WakeEvent } from "./Wakes.ts"

/** Tells waiters of committed work. */
export interface Wake {
  /**
   * The token of a claim for these names that finds nothing; take it before or while the claim looks, so that it misses nothing. With a
   * database that has snapshots, the one that the claim looks at.
   */
  readonly token: (queue: string, names: ReadonlyArray<string>, snapshot?: string) => string
  /** Says that work was committed, by the transaction of this number where the driver numbers them; wakes whom it concerns. */
  readonly notify: (events: ReadonlyArray<WakeEvent>, transaction?: string) => void
  /** Resolves when one of the queues may have got work since the token was given. */
  readonly awaitWake: (queues: ReadonlyArray<string>, token: string) => Effect.Effect<void>
}
