/** Times in which nothing passes, in either direction, while the connection stays open. */
import { Effect, Latch } from "effect"

/** The silences of one tunnel. */
export class Silence {
  private readonly latch = Latch.makeUnsafe(true)
  private count = 0

  /** Waits until no silence is left. */
  readonly over: Effect.Effect<void> = this.latch.await

  /** Lasts as long as a silence that begins now. */
  readonly of = (ms: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      this.count++
      this.latch.closeUnsafe()
      return Effect.ensuring(
        Effect.sleep(ms),
        Effect.sync(() => {
          this.count--
          if (this.count === 0) this.latch.openUnsafe()
        })
      )
    })
}
