/** `promote`: a delayed job runs now. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Kit from "./kit.ts"
import * as States from "./stateKit.ts"

export const promote = (test: Kit.Test) =>
  describe("promote", () => {
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
  })
