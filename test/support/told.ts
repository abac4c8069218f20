/** What the handlers of a test tell it: waiting for a word instead of for a time. */
import { Effect, Queue } from "effect"

/** Waits until everything in `expected` was told, in any order; gives all that was told so far. */
export const hear = (
  told: Queue.Queue<string>,
  expected: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const missing = new Set(expected)
    const heard: Array<string> = []
    while (missing.size > 0) {
      const word = yield* Queue.take(told)
      heard.push(word)
      missing.delete(word)
    }
    return heard
  })
