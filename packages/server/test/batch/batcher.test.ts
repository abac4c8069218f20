/** Items of concurrent callers in common runs: who goes when, with whom, and who is told what. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import * as Batcher from "../../src/drivers/batch/Batcher.ts"

interface Options {
  readonly atOnce?: number
  readonly mostWeight?: number
  readonly weightOf?: (item: number) => number
}

/** A batcher whose runs wait until they are let go, in whatever order. */
const gated = (options: Options = {}) =>
  Effect.gen(function* () {
    const runs: Array<ReadonlyArray<number>> = []
    const gates: Array<Deferred.Deferred<void, string>> = []
    const batcher = yield* Batcher.make<number, string, string>({
      atOnce: 1,
      mostWeight: 100,
      ...options,
      run: (items) =>
        Effect.gen(function* () {
          const gate = yield* Deferred.make<void, string>()
          runs.push(items)
          gates.push(gate)
          yield* Deferred.await(gate)
          return items.map((item) => `did ${item}`)
        }),
      refusal: () => "closed"
    })
    const submit = (...items: ReadonlyArray<number>) =>
      Effect.forEach(items, (item) => Effect.forkChild(batcher.submit(item), { startImmediately: true }))
    const open = (run: number) =>
      Effect.suspend(() => {
        const gate = gates[run]
        return gate === undefined ? Effect.die(`run ${run} has not begun`) : Deferred.succeed(gate, undefined)
      })
    const fail = (run: number, error: string) =>
      Effect.suspend(() => {
        const gate = gates[run]
        return gate === undefined ? Effect.die(`run ${run} has not begun`) : Deferred.fail(gate, error)
      })
    return { batcher, runs, submit, open, fail }
  })

const settled = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

describe("a batcher", () => {
  it.effect("begins on the turn of the first item, and takes along what comes on that turn", () =>
    Effect.gen(function* () {
      const { open, runs, submit } = yield* gated()
      const fibers = yield* submit(1, 2, 3)
      yield* Effect.promise(() => Promise.resolve())
      assert.deepStrictEqual(runs, [[1, 2, 3]])
      yield* open(0)
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), ["did 1", "did 2", "did 3"])
    })
  )

  it.effect("takes what comes while a run is under way together in the next", () =>
    Effect.gen(function* () {
      const { open, runs, submit } = yield* gated()
      yield* submit(1)
      yield* settled
      yield* submit(2)
      yield* settled
      yield* submit(3)
      yield* settled
      assert.deepStrictEqual(runs, [[1]])
      yield* open(0)
      yield* settled
      assert.deepStrictEqual(runs, [[1], [2, 3]])
      yield* open(1)
    })
  )

  it.effect("has as many runs at once as it may", () =>
    Effect.gen(function* () {
      const { open, runs, submit } = yield* gated({ atOnce: 2 })
      for (const item of [1, 2, 3, 4]) {
        yield* submit(item)
        yield* settled
      }
      assert.deepStrictEqual(runs, [[1], [2]])
      yield* open(1)
      yield* settled
      assert.deepStrictEqual(runs, [[1], [2], [3, 4]])
      yield* open(0)
      yield* open(2)
    })
  )

  it.effect("cuts runs by weight, and lets an item that is heavier go alone", () =>
    Effect.gen(function* () {
      const { open, runs, submit } = yield* gated({ mostWeight: 10, weightOf: (item) => item })
      yield* submit(4, 6, 1, 50, 2, 2)
      for (const run of [0, 1, 2, 3]) {
        yield* settled
        yield* open(run)
      }
      assert.deepStrictEqual(runs, [[4, 6], [1], [50], [2, 2]])
    })
  )

  it.effect("drops whom interruption reaches before its turn, and carries the others out", () =>
    Effect.gen(function* () {
      const { open, runs, submit } = yield* gated()
      const [first] = yield* submit(1)
      yield* settled
      const [second, third] = yield* submit(2, 3)
      if (first === undefined || second === undefined || third === undefined) return assert.fail("no fibers")
      yield* Fiber.interrupt(first)
      yield* Fiber.interrupt(second)
      yield* open(0)
      yield* settled
      assert.deepStrictEqual(runs, [[1], [3]])
      yield* open(1)
      assert.strictEqual(yield* Fiber.join(third), "did 3")
    })
  )

  it.effect("tells each item of a run that failed, and goes on with the next", () =>
    Effect.gen(function* () {
      const { fail, open, submit } = yield* gated()
      const failing = yield* submit(1, 2)
      yield* settled
      const [next] = yield* submit(3)
      yield* fail(0, "no disk")
      assert.deepStrictEqual(yield* Effect.forEach(failing, (fiber) => Effect.exit(Fiber.join(fiber))), [
        Exit.fail("no disk"),
        Exit.fail("no disk")
      ])
      yield* settled
      yield* open(1)
      assert.isDefined(next)
      if (next !== undefined) assert.strictEqual(yield* Fiber.join(next), "did 3")
    })
  )

  it.effect("carries out what waits when its scope closes, and refuses what comes later", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { batcher, open, runs, submit } = yield* Scope.provide(gated(), scope)
      const fibers = yield* submit(1)
      yield* settled
      const more = yield* submit(2)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      assert.strictEqual(yield* Effect.flip(batcher.submit(3)), "closed")
      yield* open(0)
      yield* settled
      assert.deepStrictEqual(runs, [[1], [2]])
      assert.isUndefined(closing.pollUnsafe())
      yield* open(1)
      yield* Fiber.join(closing)
      assert.deepStrictEqual(yield* Effect.forEach([...fibers, ...more], Fiber.join), ["did 1", "did 2"])
    })
  )

  it.effect("keeps order over thousands of items", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const batcher = yield* Batcher.make<number, number, never>({
        atOnce: 1,
        mostWeight: 7,
        run: (items) => Effect.sync(() => (seen.push(...items), items)),
        refusal: () => assert.fail("closed")
      })
      const all = Array.from({ length: 5000 }, (_, index) => index)
      const answers = yield* Effect.forEach(all, (item) => batcher.submit(item), { concurrency: "unbounded" })
      assert.deepStrictEqual(answers, all)
      assert.deepStrictEqual(seen, all)
    })
  )
})
