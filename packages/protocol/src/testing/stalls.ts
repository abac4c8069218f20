/** `recoverStalled`: runs whose lease ran out. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { EnqueueRequest } from "../Enqueue.ts"
import * as Flow from "./flowKit.ts"
import * as Kit from "./kit.ts"

const reason = "job stalled more than allowable limit"

/** Enqueues a job, claims it, and lets its lock of 10 ms run out. */
const addStalled = Effect.fnUntraced(function* (store: Kit.Store, fields?: Partial<EnqueueRequest>) {
  const held = yield* Kit.addAndTake(store, fields, { lockDurationMs: 10 })
  yield* Kit.pass(10)
  return held
})

/** Recovers, and asserts whom; in the order of ids, as the answer has none. */
const recovers = Effect.fnUntraced(function* (
  store: Kit.Store,
  maxStalledCount: number,
  expected: Readonly<Record<string, boolean>>
) {
  const answer = yield* store.recoverStalled({ maxStalledCount })
  const failedById = answer.map(({ failed, id }) => [id, failed] as const)
  assert.strictEqual(new Set(failedById.map(([id]) => id)).size, failedById.length, "a job was reported twice")
  assert.deepStrictEqual(Object.fromEntries(failedById), expected)
})

const waitsAgain = (test: Kit.Test) => {
  test("a run whose lock has run out is written as stalled, and the job waits again", (store) =>
    Effect.gen(function* () {
      const held = yield* addStalled(store)
      yield* Kit.pass(90)
      yield* recovers(store, 1, { [held.id]: false })
      yield* Kit.isJob(store, held.id, {
        state: "waiting",
        stalledCount: 1,
        attemptsMade: 0,
        finishedAt: undefined,
        failedReason: undefined
      })
      yield* Kit.isLedger(store, held.id, [Kit.run(1, "stalled", { finishedAt: Kit.start + 100 })])
      assert.strictEqual((yield* Kit.take(store)).id, held.id)
    }))

  test("a lock runs out when its time has come, not a millisecond before, and is recovered once", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, undefined, { lockDurationMs: 1_000 })
      yield* Kit.pass(999)
      yield* recovers(store, 1, {})
      yield* Kit.pass(1)
      yield* recovers(store, 1, { [held.id]: false })
      yield* recovers(store, 1, {})
    }))

  test("every queue and name is recovered, paused or not, and nothing else is touched", (store) =>
    Effect.gen(function* () {
      const here = yield* Kit.addAndTake(store, { id: "here" }, { lockDurationMs: 10 })
      yield* Kit.addAndTake(store, { id: "there", queue: "there", name: "other" }, { lockDurationMs: 5 })
      yield* Kit.addAndTake(store, { id: "paused", queue: "paused" }, { lockDurationMs: 10 })
      yield* Kit.addAndTake(store, { id: "alive", queue: "alive" }, { lockDurationMs: 11 })
      yield* store.pause("paused")
      yield* Kit.pass(10)
      yield* recovers(store, 1, { [here.id]: false, there: false, paused: false })
      yield* Kit.areStates(store, { here: "waiting", there: "waiting", paused: "waiting", alive: "active" })
      yield* Kit.takeNothing(store, { queue: "paused" })
    }))

  test("jobs in no other state are touched", (store) =>
    Effect.gen(function* () {
      yield* Flow.addParent(store, ["a"], { fields: { id: "parked" } })
      yield* Kit.addFinished(store, "completed", { id: "completed" })
      yield* Kit.addFinished(store, "failed", { id: "failed" })
      yield* Kit.add(store, { id: "waiting" })
      yield* Kit.add(store, { id: "delayed", delayMs: 10 })
      yield* Kit.pass(3_600_000)
      yield* recovers(store, 0, {})
      yield* Kit.areStates(store, {
        parked: "waiting-children",
        completed: "completed",
        failed: "failed",
        waiting: "waiting",
        delayed: "delayed"
      })
    }))
}

const exhausted = (test: Kit.Test) => {
  test("past maxStalledCount the job is failed by the store, with its reason and without an exit", (store) =>
    Effect.gen(function* () {
      const held = yield* addStalled(store)
      yield* recovers(store, 0, { [held.id]: true })
      yield* Kit.isJob(store, held.id, {
        state: "failed",
        stalledCount: 1,
        attemptsMade: 0,
        failedReason: reason,
        exit: undefined,
        finishedAt: Kit.start + 10
      })
      yield* Kit.isLedger(store, held.id, [Kit.run(1, "stalled", { finishedAt: Kit.start + 10 })])
      yield* Kit.takeNothing(store)
    }))

  test("stalls add up over runs, and the last one that is allowed still waits again", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "job" })
      for (const stalledCount of [1, 2, 3]) {
        yield* Kit.take(store, { lockDurationMs: 10 })
        yield* Kit.pass(10)
        yield* recovers(store, 2, { job: stalledCount > 2 })
        yield* Kit.isJob(store, "job", { stalledCount, state: stalledCount > 2 ? "failed" : "waiting" })
      }
      assert.deepStrictEqual(
        (yield* store.getAttempts("job")).map(({ attempt, outcome }) => [attempt, outcome]),
        [
          [1, "stalled"],
          [2, "stalled"],
          [3, "stalled"]
        ]
      )
    }))

  test("a run that ends well does not forgive earlier stalls", (store) =>
    Effect.gen(function* () {
      yield* addStalled(store, { id: "job" })
      yield* recovers(store, 1, { job: false })
      const second = yield* Kit.take(store)
      yield* store.ack("job", second.token, Kit.again())
      yield* Kit.take(store, { lockDurationMs: 10 })
      yield* Kit.pass(10)
      yield* recovers(store, 1, { job: true })
    }))

  test("stall exhaustion applies keep", (store) =>
    Effect.gen(function* () {
      const keep = { completed: undefined, failed: { count: 1, ageMs: undefined }, cancelled: undefined }
      yield* Kit.addFinished(store, "failed", { id: "older" })
      yield* Kit.addFinished(store, "completed", { id: "completed" })
      yield* addStalled(store, { id: "stalled", keep })
      yield* recovers(store, 0, { stalled: true })
      yield* Kit.areStates(store, { older: "gone", completed: "completed", stalled: "failed" })
      yield* addStalled(store, { id: "none kept", keep: { ...keep, failed: { count: 0, ageMs: undefined } } })
      yield* recovers(store, 0, { "none kept": true })
      yield* Kit.areStates(store, { stalled: "gone", "none kept": "gone" })
    }))
}

const cancelling = (test: Kit.Test) => {
  test("a requested cancel becomes cancelled, is written as such, counts no stall and is not reported", (store) =>
    Effect.gen(function* () {
      const held = yield* addStalled(store)
      yield* store.cancel(held.id)
      yield* recovers(store, 0, {})
      yield* Kit.isJob(store, held.id, {
        state: "cancelled",
        cancelRequested: false,
        stalledCount: 0,
        failedReason: undefined,
        finishedAt: Kit.start + 10
      })
      yield* Kit.isLedger(store, held.id, [Kit.run(1, "cancelled", { finishedAt: Kit.start + 10 })])
      yield* Kit.takeNothing(store)
    }))

  test("a cancel honoured by recovery applies keep", (store) =>
    Effect.gen(function* () {
      const keep = { completed: undefined, failed: undefined, cancelled: { count: 0, ageMs: undefined } }
      const held = yield* addStalled(store, { keep })
      yield* store.cancel(held.id)
      yield* recovers(store, 5, {})
      yield* Kit.isGone(store, held.id)
    }))
}

export const stalls = (test: Kit.Test) =>
  describe("recoverStalled", () => {
    waitsAgain(test)
    exhausted(test)
    cancelling(test)
  })
