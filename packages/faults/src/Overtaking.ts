/** Messages that wait for one of another connection to overtake them. */
import { Effect } from "effect"

interface Held {
  readonly connection: number
  readonly release: () => void
}

/** The messages of one direction. */
export class Overtaking {
  private readonly held = new Set<Held>()

  /** Waits until a message of another connection has passed, at most so many milliseconds. */
  readonly wait = (connection: number, atMostMs: number): Effect.Effect<void> =>
    Effect.raceFirst(
      Effect.callback<void>((resume) => {
        const held: Held = { connection, release: () => resume(Effect.void) }
        this.held.add(held)
        return Effect.sync(() => void this.held.delete(held))
      }),
      Effect.sleep(atMostMs)
    )

  /** A message of this connection has been written out. */
  readonly passed = (connection: number): void => {
    for (const held of this.held) {
      if (held.connection === connection) continue
      this.held.delete(held)
      held.release()
    }
  }
}
