/** `retry`: a failed job runs again by hand. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Kit from "./kit.ts"
import * as States from "./stateKit.ts"

export const retry = (test: Kit.Test) =>
  describe("retry", () => {
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
  })
