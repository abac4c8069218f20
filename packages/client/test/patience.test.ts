/** Trying again: after which errors, how far apart, and until when. On the machine's clock, so times here are short. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { backOff, insist, longestDelayMs } from "../src/Patience.ts"

/** The same "random" number every time. */
const always = (part: number) =>
  Effect.provideService(Random.Random, { nextDoubleUnsafe: () => part, nextIntUnsafe: () => 0 })

const failing = (times: number) => {
  const tries = { count: 0 }
  const attempt = Effect.suspend(() => {
    tries.count++
    return tries.count > times ? Effect.succeed("done") : Effect.fail(tries.count)
  })
  return { attempt, tries }
}

const elapsed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const started = performance.now()
    return Effect.map(effect, () => performance.now() - started)
  })

describe("backOff", () => {
  it.live("waits a random part of a time that doubles and has an end", () =>
    Effect.gen(function* () {
      assert.isBelow(yield* elapsed(always(0)(backOff(30))), 1_000)
      assert.isAtLeast(yield* elapsed(always(0.99)(backOff(0))), 98)
      assert.isAtLeast(yield* elapsed(always(0.99)(backOff(1))), 196)
      assert.strictEqual(longestDelayMs, 5_000)
      const last = yield* elapsed(always(0.04)(backOff(1_000)))
      assert.isAtLeast(last, 199)
    })
  )
})

describe("insist", () => {
  it.live("tries until it succeeds", () =>
    Effect.gen(function* () {
      const { attempt, tries } = failing(3)
      assert.strictEqual(yield* always(0)(insist(attempt, { while: () => true, forMs: 60_000 })), "done")
      assert.strictEqual(tries.count, 4)
    })
  )

  it.live("stops at an error that another try does not help", () =>
    Effect.gen(function* () {
      const { attempt } = failing(9)
      assert.strictEqual(yield* always(0)(Effect.flip(insist(attempt, { while: (n) => n < 3, forMs: 60_000 }))), 3)
    })
  )

  it.live("stops when it has failed for too long, by the last error", () =>
    Effect.gen(function* () {
      const { attempt, tries } = failing(Number.POSITIVE_INFINITY)
      const last = yield* always(0.5)(Effect.flip(insist(attempt, { while: () => true, forMs: 120 })))
      assert.strictEqual(last, tries.count)
      assert.isAtLeast(last, 2)
    })
  )

  it.live("begins to count anew after a try that held", () =>
    Effect.gen(function* () {
      const { attempt, tries } = failing(4)
      const slow = Effect.andThen(Effect.sleep(60), attempt)
      const persistence = { while: () => true, forMs: 100, forgetAfterMs: 50 }
      assert.strictEqual(yield* always(0)(insist(slow, persistence)), "done")
      assert.strictEqual(tries.count, 5)
    })
  )
})
