/** `remove`: a job is deleted by hand. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Kit from "./kit.ts"
import * as States from "./stateKit.ts"

export const remove = (test: Kit.Test) =>
  describe("remove", () => {
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
  })
