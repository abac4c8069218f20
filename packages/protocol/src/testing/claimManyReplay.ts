/** Every token of a `claimMany` stands for one claim: the call whose answer was lost is repeated with its tokens. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Kit from "./kit.ts"

const same = (test: Kit.Test) => {
  test("tokens that hold jobs of another queue get what there is in this one, and are told that it is all", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b"])
      yield* Kit.add(store, { id: "c", queue: "other" })
      yield* Kit.takeMany(store, { tokens: ["t1", "t2"] })
      const { empty, ids } = yield* Kit.takeMany(store, { queue: "other", tokens: ["t1", "t2"] })
      assert.deepStrictEqual(ids, ["c"])
      assert.isDefined(empty)
    }))

  test("the same tokens again give the same jobs, unchanged, and no others", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c", "d"])
      const first = yield* Kit.takeMany(store, { tokens: ["t1", "t2", "t3"] })
      yield* Kit.pass(1_000)
      yield* Kit.add(store, { id: "better", priority: 10 })
      const again = yield* Kit.takeMany(store, { tokens: ["t1", "t2", "t3"] })
      assert.deepStrictEqual(again.answer, first.answer)
      assert.strictEqual((yield* store.counts()).active, 3)
    }))

  test("in another order the tokens still have their own jobs", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c"])
      yield* Kit.takeMany(store, { tokens: ["t1", "t2", "t3"] })
      const { held } = yield* Kit.takeMany(store, { tokens: ["t3", "t1", "t2"] })
      assert.deepStrictEqual(
        held.map(({ id, token }) => `${token} ${id}`),
        ["t3 c", "t1 a", "t2 b"]
      )
    }))

  test("tokens that hold a job and new ones may stand in one call, which ends at the first that finds nothing", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c"])
      yield* Kit.takeMany(store, { tokens: ["held1", "held2"] })
      const { empty, ids } = yield* Kit.takeMany(store, { tokens: ["held2", "new1", "held1", "new2", "held2b"] })
      assert.deepStrictEqual(ids, ["b", "c", "a"])
      assert.isDefined(empty)
      assert.strictEqual((yield* store.counts()).active, 3)
    }))

  test("a token that found nothing may find something when the call is repeated", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "a" })
      yield* Kit.takeMany(store, { tokens: ["t1", "t2"] })
      yield* Kit.add(store, { id: "b" })
      assert.deepStrictEqual((yield* Kit.takeMany(store, { tokens: ["t1", "t2"] })).ids, ["a", "b"])
    }))

  test("claim and claimMany know each other's tokens", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c"])
      const single = yield* Kit.take(store)
      const { held } = yield* Kit.takeMany(store, { tokens: ["t", single.token] })
      assert.deepStrictEqual(
        held.map(({ id }) => id),
        ["b", "a"]
      )
      assert.deepStrictEqual(held[1]?.job, single.job)
      assert.strictEqual((yield* Kit.take(store, { token: "t" })).id, "b")
    }))

  test("while the queue is paused the held jobs are given again, up to the first token that holds none", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c"])
      yield* Kit.takeMany(store, { tokens: ["t1", "t2"] })
      yield* store.pause(Kit.queue)
      yield* store.cancel("b")
      const both = yield* Kit.takeMany(store, { tokens: ["t1", "t2"] })
      assert.deepStrictEqual(
        both.held.map(({ id, job }) => [id, job.cancelRequested]),
        [
          ["a", false],
          ["b", true]
        ]
      )
      assert.isUndefined(both.empty)
      const { empty, ids } = yield* Kit.takeMany(store, { tokens: ["t1", "new", "t2"] })
      assert.deepStrictEqual(ids, ["a"])
      assert.isDefined(empty)
    }))
}

const fresh = (test: Kit.Test) => {
  test("a token whose job was settled, released or recovered claims afresh", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["settled", "released", "recovered"])
      const { held } = yield* Kit.takeMany(store, { tokens: ["t1", "t2"] })
      yield* Kit.takeMany(store, { tokens: ["t3"], lockDurationMs: 10 })
      yield* store.ack("settled", held[0]?.token ?? "", Kit.complete())
      yield* store.release("released", "t2")
      yield* Kit.pass(10)
      yield* store.recoverStalled({ maxStalledCount: 5 })
      for (const id of ["x", "y", "z"]) yield* Kit.add(store, { id, priority: 1 })
      const { ids } = yield* Kit.takeMany(store, { tokens: ["t1", "t2", "t3"] })
      assert.deepStrictEqual(ids, ["x", "y", "z"])
    }))

  test("in another queue the tokens claim afresh", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b"])
      yield* Kit.addAll(store, ["c", "d"], { queue: "other" })
      yield* Kit.takeMany(store, { tokens: ["t1", "t2"] })
      assert.deepStrictEqual((yield* Kit.takeMany(store, { queue: "other", tokens: ["t1", "t2"] })).ids, ["c", "d"])
      assert.deepStrictEqual((yield* Kit.takeMany(store, { tokens: ["t1", "t2"] })).ids, ["a", "b"])
    }))

  test("a repeat lengthens the leases to what it asks for, and shortens none", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b"])
      yield* Kit.takeMany(store, { tokens: ["t1"], lockDurationMs: 5_000 })
      yield* Kit.takeMany(store, { tokens: ["t2"], lockDurationMs: 1_000 })
      yield* Kit.takeMany(store, { tokens: ["t1", "t2"], lockDurationMs: 3_000 })
      yield* Kit.pass(2_999)
      assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 9 }), [])
      yield* Kit.pass(1)
      assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 9 }), [{ id: "b", failed: false }])
      yield* Kit.pass(2_000)
      assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 9 }), [{ id: "a", failed: false }])
    }))
}

export const claimManyReplay = (test: Kit.Test) =>
  describe("claimMany: replay", () => {
    same(test)
    fresh(test)
  })
