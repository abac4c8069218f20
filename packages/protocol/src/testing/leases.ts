/** Heartbeats: `extendLocks`. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Kit from "./kit.ts"
import * as States from "./stateKit.ts"

const nothingLost = { lost: [], cancelRequested: [] }

/** Asserts that the lock of a job runs out exactly at this moment, which must not have come yet. */
const runsOutAt = Effect.fnUntraced(function* (store: Kit.Store, id: string, moment: number, now: number) {
  yield* Kit.pass(moment - now - 1)
  assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 9 }), [])
  yield* Kit.pass(1)
  assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 9 }), [{ id, failed: false }])
})

const extended = (test: Kit.Test) => {
  test("a claim holds its job for exactly lockDurationMs", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, undefined, { lockDurationMs: 5_000 })
      yield* runsOutAt(store, held.id, Kit.start + 5_000, Kit.start)
    }))

  test("a heartbeat moves the end to durationMs from now", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, undefined, { lockDurationMs: 5_000 })
      yield* Kit.pass(4_000)
      const answer = yield* store.extendLocks([{ id: held.id, token: held.token }], 7_000)
      assert.deepStrictEqual(answer, nothingLost)
      yield* runsOutAt(store, held.id, Kit.start + 11_000, Kit.start + 4_000)
    }))

  test("durationMs counts from now also when that is earlier than before", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, undefined, { lockDurationMs: 60_000 })
      yield* store.extendLocks([{ id: held.id, token: held.token }], 100)
      yield* runsOutAt(store, held.id, Kit.start + 100, Kit.start)
    }))

  test("a lock that has run out but was not yet recovered may be extended", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, undefined, { lockDurationMs: 10 })
      yield* Kit.pass(1_000)
      assert.deepStrictEqual(yield* store.extendLocks([{ id: held.id, token: held.token }], 500), nothingLost)
      assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 0 }), [])
      yield* runsOutAt(store, held.id, Kit.start + 1_500, Kit.start + 1_000)
    }))

  test("a heartbeat changes nothing that can be seen of the job", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* Kit.pass(10)
      yield* store.extendLocks([{ id: held.id, token: held.token }], 500)
      assert.deepStrictEqual(yield* Kit.find(store, held.id), held.job)
      yield* Kit.isLedger(store, held.id, [])
    }))

  test("no locks, no answer", (store) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* store.extendLocks([], 1_000), nothingLost)
    }))
}

const lost = (test: Kit.Test) => {
  for (const state of States.states.filter((state) => state !== "active")) {
    test(`the lock of a ${state} job is lost`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        const answer = yield* store.extendLocks([{ id, token: Kit.unique("token") }], 1_000)
        assert.deepStrictEqual(answer, { lost: [id], cancelRequested: [] })
      }))
  }

  test("the lock of an unknown job, and a lock under another token, is lost", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, undefined, { lockDurationMs: 10 })
      const locks = [
        { id: "nobody", token: held.token },
        { id: held.id, token: Kit.unique("stranger") }
      ]
      const answer = yield* store.extendLocks(locks, 60_000)
      assert.deepStrictEqual([...answer.lost].toSorted(), [held.id, "nobody"].toSorted())
      assert.deepStrictEqual(answer.cancelRequested, [])
      yield* Kit.pass(10)
      assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 1 }), [{ id: held.id, failed: false }])
    }))

  test("a job that another run holds by now is lost to the token of the earlier run", (store) =>
    Effect.gen(function* () {
      const earlier = yield* Kit.addAndTake(store)
      yield* store.ack(earlier.id, earlier.token, Kit.again())
      const later = yield* Kit.take(store)
      const locks = [earlier, later].map(({ id, token }) => ({ id, token }))
      assert.deepStrictEqual(yield* store.extendLocks(locks, 1_000), { lost: [earlier.id], cancelRequested: [] })
    }))

  test("one call answers for each lock on its own", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["kept", "cancelling", "settled"])
      const claims = yield* Effect.all([1, 2, 3].map(() => Kit.take(store, { lockDurationMs: 100 })))
      yield* store.cancel("cancelling")
      yield* store.ack("settled", claims[2]?.token ?? "", Kit.complete())
      const locks = claims.map(({ id, token }) => ({ id, token }))
      const answer = yield* store.extendLocks([{ id: "nobody", token: "x" }, ...locks], 1_000)
      assert.deepStrictEqual([...answer.lost].toSorted(), ["nobody", "settled"])
      assert.deepStrictEqual(answer.cancelRequested, ["cancelling"])
      yield* Kit.pass(999)
      yield* store.recoverStalled({ maxStalledCount: 0 })
      yield* Kit.areStates(store, { kept: "active", cancelling: "cancelled", settled: "completed" })
    }))
}

const cancelling = (test: Kit.Test) => {
  test("a job with a pending cancel is reported at every heartbeat and not extended", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, undefined, { lockDurationMs: 1_000 })
      yield* store.cancel(held.id)
      const locks = [{ id: held.id, token: held.token }]
      const reported = { lost: [], cancelRequested: [held.id] }
      assert.deepStrictEqual(yield* store.extendLocks(locks, 60_000), reported)
      yield* Kit.pass(999)
      assert.deepStrictEqual(yield* store.extendLocks(locks, 60_000), reported)
      yield* store.recoverStalled({ maxStalledCount: 0 })
      yield* Kit.isJob(store, held.id, { state: "active", cancelRequested: true })
      yield* Kit.pass(1)
      yield* store.recoverStalled({ maxStalledCount: 0 })
      yield* Kit.isJob(store, held.id, { state: "cancelled" })
    }))
}

export const leases = (test: Kit.Test) =>
  describe("leases", () => {
    extended(test)
    lost(test)
    cancelling(test)
  })
