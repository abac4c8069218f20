/** A token stands for one claim: a claim whose answer was lost is repeated with its token. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Kit from "./kit.ts"

const same = (test: Kit.Test) => {
  test("a token that holds a job gets the same job again, unchanged, and no second one", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["first", "second"])
      const held = yield* Kit.take(store)
      yield* Kit.pass(1_000)
      const again = yield* Kit.take(store, { token: held.token })
      assert.deepStrictEqual(again.job, held.job)
      assert.deepStrictEqual(yield* Kit.find(store, "first"), held.job)
      yield* Kit.areStates(store, { first: "active", second: "waiting" })
      assert.strictEqual((yield* store.counts()).active, 1)
    }))

  test("a better job that came in between does not change the answer", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, { id: "first" })
      yield* Kit.add(store, { id: "better", priority: 10 })
      assert.strictEqual((yield* Kit.take(store, { token: held.token })).id, "first")
      yield* Kit.areStates(store, { better: "waiting" })
    }))

  test("the repeat works while the queue is paused, and shows a cancel that was asked for", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* store.pause(Kit.queue)
      yield* store.cancel(held.id)
      const again = yield* Kit.take(store, { token: held.token })
      assert.deepStrictEqual(again.job, { ...held.job, cancelRequested: true })
    }))

  test("the lock is that of the token: acks and heartbeats go on as after the first answer", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* Kit.take(store, { token: held.token })
      const locks = [{ id: held.id, token: held.token }]
      assert.deepStrictEqual(yield* store.extendLocks(locks, 1_000), { lost: [], cancelRequested: [] })
      yield* store.ack(held.id, held.token, Kit.complete())
      yield* Kit.isLedger(store, held.id, [Kit.run(1, "completed")])
    }))

  test("two tokens in one queue each get their own job again", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["first", "second"])
      const [first, second] = [yield* Kit.take(store), yield* Kit.take(store)]
      assert.strictEqual((yield* Kit.take(store, { token: second.token })).id, "second")
      assert.strictEqual((yield* Kit.take(store, { token: first.token })).id, "first")
    }))

  test("in another queue the token claims afresh", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, { id: "here" })
      yield* Kit.add(store, { id: "there", queue: "other" })
      assert.strictEqual((yield* Kit.take(store, { queue: "other", token: held.token })).id, "there")
      assert.strictEqual((yield* Kit.take(store, { token: held.token })).id, "here")
    }))
}

const fresh = (test: Kit.Test) => {
  for (const [what, outcome] of [
    ["Complete", Kit.complete()],
    ["Fail", Kit.fail()],
    ["Cancelled", Kit.cancelled],
    ["Retry", Kit.again(60_000)]
  ] as const) {
    test(`a token that settled its job by ${what} claims afresh`, (store) =>
      Effect.gen(function* () {
        const held = yield* Kit.addAndTake(store, { id: "settled" })
        yield* store.ack(held.id, held.token, outcome)
        yield* Kit.takeNothing(store, { token: held.token })
        yield* Kit.add(store, { id: "next" })
        assert.strictEqual((yield* Kit.take(store, { token: held.token })).id, "next")
      }))
  }

  test("a token that released its job claims afresh", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, { id: "released" })
      yield* Kit.add(store, { id: "better", priority: 1 })
      yield* store.release(held.id, held.token)
      assert.strictEqual((yield* Kit.take(store, { token: held.token })).id, "better")
    }))

  test("a token whose job was recovered claims afresh", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, { id: "recovered" }, { lockDurationMs: 10 })
      yield* Kit.add(store, { id: "better", priority: 1 })
      yield* Kit.pass(10)
      yield* store.recoverStalled({ maxStalledCount: 5 })
      assert.strictEqual((yield* Kit.take(store, { token: held.token })).id, "better")
    }))

  test("a token may claim the job again that it settled by Retry, and then a like ack is a new one", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* store.ack(held.id, held.token, Kit.again(0, 1))
      const again = yield* Kit.take(store, { token: held.token })
      assert.strictEqual(again.id, held.id)
      yield* store.ack(held.id, held.token, Kit.again(0, 2))
      yield* Kit.isJob(store, held.id, { state: "waiting", attemptsMade: 2 })
      yield* Kit.isLedger(store, held.id, [Kit.run(1, "retried", { exit: 1 }), Kit.run(2, "retried", { exit: 2 })])
    }))
}

export const claimReplay = (test: Kit.Test) =>
  describe("claim: replay", () => {
    same(test)
    fresh(test)
  })
