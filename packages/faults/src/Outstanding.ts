/** What the proxy still holds back or has still to do: so that a test can wait until all of it is over. */
import { Effect } from "effect"

/** Counts what is under way, and tells when nothing is. */
export class Outstanding {
  private count = 0
  private readonly waiting = new Set<() => void>()

  /** Counts an effect for as long as it runs. */
  readonly while = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      this.count++
      return Effect.ensuring(
        effect,
        Effect.sync(() => this.ended())
      )
    })

  /** Resolves when nothing is under way. */
  readonly none: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.count === 0) return resume(Effect.void)
    const wait = () => resume(Effect.void)
    this.waiting.add(wait)
    return Effect.sync(() => void this.waiting.delete(wait))
  })

  private ended(): void {
    this.count--
    if (this.count > 0) return
    for (const wait of this.waiting) wait()
    this.waiting.clear()
  }
}
