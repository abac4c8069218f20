/**
 * A token stands for one claim. A repeat of a claim that is still under way waits for it, so that it finds what the token holds then
 * instead of claiming a second job.
 */
import { Effect, Latch } from "effect"

/** The tokens of the claims that are under way on this server. */
export class TokensInFlight {
  readonly #ends = new Map<string, Latch.Latch>()

  /** Runs a claim when no other one of these tokens is under way. Not interruptible, or the repeat would not see its end. */
  alone<A, E>(store: number, tokens: ReadonlyArray<string>, claim: Effect.Effect<A, E>): Effect.Effect<A, E> {
    const keys = tokens.map((token) => `${store} ${token}`)
    const attempt: Effect.Effect<A, E> = Effect.suspend(() => {
      for (const key of keys) {
        const end = this.#ends.get(key)
        if (end !== undefined) return Effect.andThen(end.await, attempt)
      }
      const end = Latch.makeUnsafe(false)
      for (const key of keys) this.#ends.set(key, end)
      return Effect.ensuring(
        claim,
        Effect.sync(() => {
          for (const key of keys) this.#ends.delete(key)
          end.openUnsafe()
        })
      )
    })
    return Effect.uninterruptible(attempt)
  }
}
