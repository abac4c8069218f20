/** What people do to single jobs by hand: `retry`, `promote`, `remove`. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Kit from "./kit.ts"
import * as States from "./stateKit.ts"

const retry = (test: Kit.Test) => {
  test("a failed job is waiting from now, with fresh attempts, its end cleared and its ledger kept", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, { attemptsMax: 2 })
      yield* store.ack(held.id, held.token, Kit.fail("broken"))
      yield* Kit.pass(500)
      yield* store.retry(held.id)
      yield* Kit.isJob(store, held.id, {
        state: "waiting",
        attemptsMade: 0,
        attemptsMax: 2,
        runAt: Kit.start + 500,
        enqueuedAt: Kit.start,
        finishedAt: undefined,
        exit: undefined,
        failedReason: undefined,
        cancelRequested: false
      })
      yield* Kit.isLedger(store, held.id, [Kit.run(1, "failed", { exit: "broken" })])
    }))

  test("the ledger goes on with its numbers in the run after", (store) =>
    Effect.gen(function* () {
      const first = yield* Kit.addAndTake(store)
      yield* store.ack(first.id, first.token, Kit.fail("one"))
      yield* store.retry(first.id)
      const second = yield* Kit.take(store)
      yield* store.ack(second.id, second.token, Kit.complete("two"))
      yield* Kit.isJob(store, first.id, { state: "completed", attemptsMade: 1, exit: "two" })
      yield* Kit.isLedger(store, first.id, [
        Kit.run(1, "failed", { exit: "one" }),
        Kit.run(2, "completed", { exit: "two" })
      ])
    }))

  test("a job that stalled too often gets a fresh stall budget", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "job" })
      const stall = Effect.andThen(Kit.take(store, { lockDurationMs: 10 }), Kit.pass(10))
      yield* stall
      yield* store.recoverStalled({ maxStalledCount: 0 })
      yield* store.retry("job")
      yield* Kit.isJob(store, "job", { state: "waiting", stalledCount: 0, failedReason: undefined })
      yield* stall
      assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 1 }), [{ id: "job", failed: false }])
    }))

  for (const state of States.states.filter((state) => state !== "failed")) {
    test(`a ${state} job is JobNotRetryableError with its state, and stays as it is`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        const before = yield* Kit.find(store, id)
        const error = yield* Kit.failsWith(store.retry(id), "JobNotRetryableError")
        assert.deepStrictEqual({ jobId: error.jobId, state: error.state }, { jobId: id, state })
        assert.deepStrictEqual(yield* Kit.find(store, id), before)
      }))
  }

  test("an unknown id is JobNotFoundError", (store) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Kit.failsWith(store.retry("nobody"), "JobNotFoundError")).jobId, "nobody")
    }))
}

const promote = (test: Kit.Test) => {
  test("a delayed job is waiting from now and can be claimed", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { delayMs: 60_000 })
      yield* Kit.pass(10)
      yield* store.promote(id)
      yield* Kit.isJob(store, id, { state: "waiting", runAt: Kit.start + 10, enqueuedAt: Kit.start })
      yield* Kit.isLedger(store, id, [])
      assert.strictEqual((yield* Kit.take(store)).id, id)
    }))

  test("a job that waits for its retry is promoted with the runs it spent", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* store.ack(held.id, held.token, Kit.again(60_000))
      yield* store.promote(held.id)
      yield* Kit.isJob(store, held.id, { state: "waiting", attemptsMade: 1 })
    }))

  for (const state of States.states.filter((state) => state !== "delayed")) {
    test(`a ${state} job is JobNotPromotableError with its state, and stays as it is`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        const before = yield* Kit.find(store, id)
        const error = yield* Kit.failsWith(store.promote(id), "JobNotPromotableError")
        assert.deepStrictEqual({ jobId: error.jobId, state: error.state }, { jobId: id, state })
        assert.deepStrictEqual(yield* Kit.find(store, id), before)
      }))
  }

  test("an unknown id is JobNotFoundError", (store) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Kit.failsWith(store.promote("nobody"), "JobNotFoundError")).jobId, "nobody")
    }))
}

const remove = (test: Kit.Test) => {
  for (const state of ["waiting", "delayed", "completed", "failed", "cancelled"] as const) {
    test(`a ${state} job is removed with its ledger, once`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        assert.isTrue(yield* store.remove(id))
        yield* Kit.isGone(store, id)
        yield* Kit.isLedger(store, id, [])
        assert.deepStrictEqual((yield* store.list({})).items, [])
        assert.strictEqual((yield* store.counts())[state], 0)
        assert.isFalse(yield* store.remove(id))
        yield* Kit.pass(60_000)
        assert.isUndefined((yield* Kit.takeNothing(store)).nextRunAt)
      }))
  }

  for (const state of ["active", "waiting-children"] as const) {
    test(`a job that is ${state} is not removed`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        const before = yield* Kit.find(store, id)
        assert.isFalse(yield* store.remove(id))
        assert.deepStrictEqual(yield* Kit.find(store, id), before)
      }))
  }

  test("an unknown id is false", (store) =>
    Effect.gen(function* () {
      assert.isFalse(yield* store.remove("nobody"))
    }))

  test("the id of a removed job can be used again, for a job without a past", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "completed", { id: "job" })
      yield* store.remove("job")
      const request = Kit.request({ id: "job", payload: "new" })
      assert.deepStrictEqual(yield* store.enqueue(request), { id: "job", duplicate: false })
      assert.deepStrictEqual(yield* Kit.find(store, "job"), Kit.recordOf("job", request))
      yield* Kit.isLedger(store, "job", [])
    }))
}

export const operator = (test: Kit.Test) => {
  describe("retry", () => {
    retry(test)
  })
  describe("promote", () => {
    promote(test)
  })
  describe("remove", () => {
    remove(test)
  })
}
