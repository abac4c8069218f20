/** How runs end: the outcomes, the fence, and a cancel that races them. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { AckOutcome } from "../Claim.ts"
import * as Flow from "./flowKit.ts"
import * as Kit from "./kit.ts"
import * as States from "./stateKit.ts"

const exit = { value: [1, "two", null] }

const outcomes = (test: Kit.Test) => {
  for (const [outcome, state] of [
    [Kit.complete(exit), "completed"],
    [Kit.fail(exit), "failed"]
  ] as const) {
    test(`${outcome._tag} makes the job ${state} with its exit, and writes the run`, (store) =>
      Effect.gen(function* () {
        const held = yield* Kit.addAndTake(store)
        yield* Kit.pass(300)
        yield* store.ack(held.id, held.token, outcome)
        assert.deepStrictEqual(yield* Kit.find(store, held.id), {
          ...held.job,
          state,
          exit,
          attemptsMade: 1,
          finishedAt: Kit.start + 300
        })
        yield* Kit.isLedger(store, held.id, [Kit.run(1, state, { finishedAt: Kit.start + 300, exit })])
      }))
  }

  test("Cancelled makes the job cancelled without an exit, and writes the run", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* Kit.pass(300)
      yield* store.ack(held.id, held.token, Kit.cancelled)
      assert.deepStrictEqual(yield* Kit.find(store, held.id), {
        ...held.job,
        state: "cancelled",
        attemptsMade: 1,
        finishedAt: Kit.start + 300
      })
      yield* Kit.isLedger(store, held.id, [Kit.run(1, "cancelled", { finishedAt: Kit.start + 300 })])
    }))

  test("Retry with a delay makes the job delayed; the exit is in the ledger, not in the record", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* Kit.pass(300)
      yield* store.ack(held.id, held.token, Kit.again(2_000, exit))
      assert.deepStrictEqual(yield* Kit.find(store, held.id), {
        ...held.job,
        state: "delayed",
        attemptsMade: 1,
        runAt: Kit.start + 2_300
      })
      yield* Kit.isLedger(store, held.id, [Kit.run(1, "retried", { finishedAt: Kit.start + 300, exit })])
    }))

  for (const delayMs of [0, -5]) {
    test(`Retry with a delay of ${delayMs} makes the job waiting from now`, (store) =>
      Effect.gen(function* () {
        const held = yield* Kit.addAndTake(store)
        yield* Kit.pass(300)
        yield* store.ack(held.id, held.token, Kit.again(delayMs))
        yield* Kit.isJob(store, held.id, { state: "waiting", runAt: Kit.start + 300, finishedAt: undefined })
        assert.strictEqual((yield* Kit.take(store)).id, held.id)
      }))
  }

  test("the worker decides about retries: a store does not count against attemptsMax", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "job", attemptsMax: 1 })
      for (const attemptsMade of [1, 2, 3]) {
        const held = yield* Kit.take(store)
        yield* store.ack(held.id, held.token, Kit.again())
        yield* Kit.isJob(store, "job", { state: "waiting", attemptsMade, attemptsMax: 1 })
      }
    }))

  test("each run adds one to attemptsMade and one entry, numbered from 1, with its own times", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "job" })
      const first = yield* Kit.take(store)
      yield* Kit.pass(10)
      yield* store.ack(first.id, first.token, Kit.again(90, "a"))
      yield* Kit.pass(90)
      const second = yield* Kit.take(store)
      assert.deepStrictEqual(
        Kit.pick(second.job, { attemptsMade: 1, processedAt: Kit.start + 100, runAt: Kit.start + 100 }),
        { attemptsMade: 1, processedAt: Kit.start + 100, runAt: Kit.start + 100 }
      )
      yield* Kit.pass(5)
      yield* store.ack(second.id, second.token, Kit.complete("b"))
      yield* Kit.isJob(store, "job", { attemptsMade: 2, exit: "b" })
      yield* Kit.isLedger(store, "job", [
        Kit.run(1, "retried", { finishedAt: Kit.start + 10, exit: "a" }),
        Kit.run(2, "completed", { startedAt: Kit.start + 100, finishedAt: Kit.start + 105, exit: "b" })
      ])
    }))

  test("an exit that is absent differs from null, in the record and in the ledger", (store) =>
    Effect.gen(function* () {
      for (const exit of [undefined, null]) {
        const held = yield* Kit.addAndTake(store)
        yield* store.ack(held.id, held.token, Kit.complete(exit))
        yield* Kit.isJob(store, held.id, { exit })
        yield* Kit.isLedger(store, held.id, [Kit.run(1, "completed", { exit })])
      }
    }))

  test("an ack clears the lock: the run is not recovered later", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, undefined, { lockDurationMs: 10 })
      yield* store.ack(held.id, held.token, Kit.again())
      yield* Kit.pass(1_000)
      assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 0 }), [])
      yield* Kit.isJob(store, held.id, { state: "waiting", stalledCount: 0 })
    }))
}

const fence = (test: Kit.Test) => {
  const everyOutcome: ReadonlyArray<AckOutcome> = [
    Kit.complete(),
    Kit.fail(),
    Kit.again(),
    Kit.cancelled,
    Flow.fanOut([])
  ]
  for (const outcome of everyOutcome) {
    test(`${outcome._tag} with another token is LockLostError and changes nothing`, (store) =>
      Effect.gen(function* () {
        const held = yield* Kit.addAndTake(store)
        const error = yield* Kit.failsWith(store.ack(held.id, Kit.unique("stranger"), outcome), "LockLostError")
        assert.strictEqual(error.jobId, held.id)
        assert.deepStrictEqual(yield* Kit.find(store, held.id), held.job)
        yield* Kit.isLedger(store, held.id, [])
        yield* store.ack(held.id, held.token, outcome)
      }))

    test(`${outcome._tag} of an unknown id is JobNotFoundError`, (store) =>
      Effect.gen(function* () {
        const error = yield* Kit.failsWith(store.ack("nobody", Kit.unique("token"), outcome), "JobNotFoundError")
        assert.strictEqual(error.jobId, "nobody")
      }))
  }

  for (const state of States.states.filter((state) => state !== "active")) {
    test(`an ack of a ${state} job is LockLostError and changes nothing`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        const before = yield* Kit.find(store, id)
        const error = yield* Kit.failsWith(store.ack(id, Kit.unique("stranger"), Kit.complete(1)), "LockLostError")
        assert.strictEqual(error.jobId, id)
        assert.deepStrictEqual(yield* Kit.find(store, id), before)
      }))
  }

  test("a lock that has run out but was not recovered still acks", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, undefined, { lockDurationMs: 10 })
      yield* Kit.pass(60_000)
      yield* store.ack(held.id, held.token, Kit.complete())
      yield* Kit.isJob(store, held.id, { state: "completed" })
    }))

  test("after recovery the old token is LockLostError, also while the next run holds the job", (store) =>
    Effect.gen(function* () {
      const stale = yield* Kit.addAndTake(store, undefined, { lockDurationMs: 10 })
      yield* Kit.pass(10)
      yield* store.recoverStalled({ maxStalledCount: 1 })
      yield* Kit.failsWith(store.ack(stale.id, stale.token, Kit.complete()), "LockLostError")
      const next = yield* Kit.take(store)
      assert.strictEqual(next.id, stale.id)
      yield* Kit.failsWith(store.ack(stale.id, stale.token, Kit.complete()), "LockLostError")
      yield* Kit.isJob(store, stale.id, { state: "active" })
      yield* store.ack(next.id, next.token, Kit.complete("mine"))
      yield* Kit.isJob(store, stale.id, { state: "completed", exit: "mine" })
    }))
}

const addCancelling = Effect.fnUntraced(function* (store: Kit.Store) {
  const held = yield* Kit.addAndTake(store)
  yield* store.cancel(held.id)
  yield* Kit.isJob(store, held.id, { state: "active", cancelRequested: true })
  return held
})

const races = (test: Kit.Test) => {
  for (const [outcome, state] of [
    [Kit.complete(exit), "completed"],
    [Kit.fail(exit), "failed"]
  ] as const) {
    test(`${outcome._tag} wins over a pending cancel request`, (store) =>
      Effect.gen(function* () {
        const held = yield* addCancelling(store)
        yield* store.ack(held.id, held.token, outcome)
        yield* Kit.isJob(store, held.id, { state, exit, cancelRequested: false, attemptsMade: 1 })
        yield* Kit.isLedger(store, held.id, [Kit.run(1, state, { exit })])
      }))
  }

  for (const delayMs of [0, 5_000]) {
    test(`Retry with a delay of ${delayMs} gives way to a pending cancel request`, (store) =>
      Effect.gen(function* () {
        const held = yield* addCancelling(store)
        yield* Kit.pass(50)
        yield* store.ack(held.id, held.token, Kit.again(delayMs))
        yield* Kit.isJob(store, held.id, {
          state: "cancelled",
          cancelRequested: false,
          attemptsMade: 1,
          finishedAt: Kit.start + 50
        })
        yield* Kit.isLedger(store, held.id, [Kit.run(1, "cancelled", { finishedAt: Kit.start + 50 })])
        yield* Kit.pass(delayMs)
        yield* Kit.takeNothing(store)
      }))
  }

  test("Cancelled ends a pending cancel request", (store) =>
    Effect.gen(function* () {
      const held = yield* addCancelling(store)
      yield* store.ack(held.id, held.token, Kit.cancelled)
      yield* Kit.isJob(store, held.id, { state: "cancelled", cancelRequested: false, exit: undefined })
      yield* Kit.isLedger(store, held.id, [Kit.run(1, "cancelled")])
    }))
}

export const ack = (test: Kit.Test) =>
  describe("ack", () => {
    outcomes(test)
    fence(test)
    races(test)
  })
