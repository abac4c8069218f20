/** `cancel` and `cancelByDedupe`. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Kit from "./kit.ts"
import * as States from "./stateKit.ts"

const byId = (test: Kit.Test) => {
  for (const state of ["waiting", "delayed"] as const) {
    test(`a ${state} job is cancelled at once, with a ledger entry`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        const before = yield* Kit.find(store, id)
        yield* Kit.pass(40)
        yield* store.cancel(id)
        assert.deepStrictEqual(yield* Kit.find(store, id), {
          ...before,
          state: "cancelled",
          finishedAt: Kit.start + 40
        })
        yield* Kit.isLedger(store, id, [Kit.run(1, "cancelled", { startedAt: undefined, finishedAt: Kit.start + 40 })])
        yield* Kit.pass(60_000)
        assert.isUndefined((yield* Kit.takeNothing(store)).nextRunAt)
      }))
  }

  test("a job that waits for children is cancelled at once, with a ledger entry", (store) =>
    Effect.gen(function* () {
      const id = yield* States.addIn(store, "waiting-children")
      yield* Kit.pass(40)
      yield* store.cancel(id)
      yield* Kit.isJob(store, id, { state: "cancelled", finishedAt: Kit.start + 40 })
      const ledger = yield* store.getAttempts(id)
      assert.deepStrictEqual(
        ledger.map(({ attempt, finishedAt, outcome }) => [attempt, outcome, finishedAt]),
        [
          [1, "fanned-out", Kit.start],
          [2, "cancelled", Kit.start + 40]
        ]
      )
    }))

  test("an active job gets a request, which its worker sees at the next heartbeat", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* store.cancel(held.id)
      assert.deepStrictEqual(yield* Kit.find(store, held.id), { ...held.job, cancelRequested: true })
      yield* Kit.isLedger(store, held.id, [])
      const answer = yield* store.extendLocks([{ id: held.id, token: held.token }], 1_000)
      assert.deepStrictEqual(answer, { lost: [], cancelRequested: [held.id] })
      yield* store.ack(held.id, held.token, Kit.cancelled)
      yield* Kit.isJob(store, held.id, { state: "cancelled", cancelRequested: false })
    }))

  test("a second request for an active job changes nothing", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* store.cancel(held.id)
      yield* store.cancel(held.id)
      assert.deepStrictEqual(yield* Kit.find(store, held.id), { ...held.job, cancelRequested: true })
    }))

  for (const state of ["completed", "failed", "cancelled"] as const) {
    test(`a ${state} job is JobNotCancellableError with its state, and stays as it is`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        const before = yield* Kit.find(store, id)
        const error = yield* Kit.failsWith(store.cancel(id), "JobNotCancellableError")
        assert.deepStrictEqual({ jobId: error.jobId, state: error.state }, { jobId: id, state })
        assert.deepStrictEqual(yield* Kit.find(store, id), before)
        assert.strictEqual((yield* store.getAttempts(id)).length, 1)
      }))
  }

  test("an unknown id is JobNotFoundError", (store) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Kit.failsWith(store.cancel("nobody"), "JobNotFoundError")).jobId, "nobody")
    }))

  test("a job that ran before is cancelled with the numbers of the ledger going on", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* store.ack(held.id, held.token, Kit.again(1_000, "soft"))
      yield* store.cancel(held.id)
      const ledger = yield* store.getAttempts(held.id)
      assert.deepStrictEqual(
        ledger.map(({ attempt, outcome }) => [attempt, outcome]),
        [
          [1, "retried"],
          [2, "cancelled"]
        ]
      )
      yield* Kit.isJob(store, held.id, { state: "cancelled", attemptsMade: 1 })
    }))
}

const byKey = (test: Kit.Test) => {
  const key = { dedupe: Kit.dedupe("key") }

  for (const state of ["waiting", "delayed", "waiting-children"] as const) {
    test(`cancelByDedupe cancels the ${state} job that holds the key, once`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state, key)
        yield* Kit.pass(40)
        assert.isTrue(yield* store.cancelByDedupe(Kit.name, "key"))
        yield* Kit.isJob(store, id, { state: "cancelled", finishedAt: Kit.start + 40 })
        const ledger = yield* store.getAttempts(id)
        assert.isFalse(yield* store.cancelByDedupe(Kit.name, "key"))
        yield* Kit.isLedger(store, id, ledger)
      }))
  }

  test("cancelByDedupe asks the worker when the keyed job is active", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, key)
      assert.isTrue(yield* store.cancelByDedupe(Kit.name, "key"))
      yield* Kit.isJob(store, held.id, { state: "active", cancelRequested: true })
    }))

  for (const state of ["completed", "failed", "cancelled"] as const) {
    test(`cancelByDedupe is false when the keyed job is ${state}, also within its window`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state, { dedupe: Kit.dedupe("key", { ttlMs: 1_000 }) })
        const before = yield* Kit.find(store, id)
        assert.isFalse(yield* store.cancelByDedupe(Kit.name, "key"))
        assert.deepStrictEqual(yield* Kit.find(store, id), before)
      }))
  }

  test("cancelByDedupe is false for a key that nobody has, and looks at name and key", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, key)
      assert.isFalse(yield* store.cancelByDedupe(Kit.name, "another"))
      assert.isFalse(yield* store.cancelByDedupe("another", "key"))
      yield* Kit.isJob(store, id, { state: "waiting" })
    }))

  test("cancelByDedupe is false when the keyed job is gone", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { dedupe: Kit.dedupe("key", { ttlMs: 1_000 }) })
      yield* store.remove(id)
      assert.isFalse(yield* store.cancelByDedupe(Kit.name, "key"))
    }))

  test("cancelByDedupe is false when a later job has the id of the keyed one, and leaves it", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "job", dedupe: Kit.dedupe("key", { ttlMs: 1_000 }) })
      yield* store.remove("job")
      yield* Kit.add(store, { id: "job" })
      assert.isFalse(yield* store.cancelByDedupe(Kit.name, "key"))
      yield* Kit.isJob(store, "job", { state: "waiting" })
    }))

  test("cancelByDedupe cancels a pending job also when its window has long been over", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { dedupe: Kit.dedupe("key", { ttlMs: 1_000 }) })
      // Long enough for what a store does from time to time.
      yield* Kit.pass(600_000)
      yield* Kit.roundTrips(store)
      assert.isTrue(yield* store.cancelByDedupe(Kit.name, "key"))
      yield* Kit.isJob(store, id, { state: "cancelled" })
    }))

  test("cancelByDedupe cancels the job that holds the key now, not one that held it before", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "failed", { id: "old", ...key })
      yield* Kit.add(store, { id: "new", ...key })
      yield* store.retry("old")
      assert.isTrue(yield* store.cancelByDedupe(Kit.name, "key"))
      yield* Kit.areStates(store, { old: "waiting", new: "cancelled" })
    }))

  test("after cancelByDedupe a pending key is free, and a window goes on", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "pending", ...key })
      const window = { dedupe: Kit.dedupe("window", { ttlMs: 1_000 }) }
      yield* Kit.add(store, { id: "windowed", ...window })
      yield* store.cancelByDedupe(Kit.name, "key")
      yield* store.cancelByDedupe(Kit.name, "window")
      yield* Kit.add(store, { id: "successor", ...key })
      assert.deepStrictEqual(yield* store.enqueue(Kit.request(window)), { id: "windowed", duplicate: true })
    }))
}

export const cancel = (test: Kit.Test) =>
  describe("cancel", () => {
    byId(test)
    byKey(test)
  })
