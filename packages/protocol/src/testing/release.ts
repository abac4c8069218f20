/** Giving a claimed job back. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Kit from "./kit.ts"
import * as States from "./stateKit.ts"

export const release = (test: Kit.Test) =>
  describe("release", () => {
    test("the job is waiting again: no attempt spent, no ledger entry", (store) =>
      Effect.gen(function* () {
        const held = yield* Kit.addAndTake(store)
        yield* Kit.pass(100)
        yield* store.release(held.id, held.token)
        yield* Kit.isJob(store, held.id, {
          state: "waiting",
          attemptsMade: 0,
          stalledCount: 0,
          runAt: Kit.start,
          finishedAt: undefined
        })
        yield* Kit.isLedger(store, held.id, [])
        assert.strictEqual((yield* Kit.take(store)).id, held.id)
      }))

    test("earlier runs and stalls stay as they were", (store) =>
      Effect.gen(function* () {
        const first = yield* Kit.addAndTake(store)
        yield* store.ack(first.id, first.token, Kit.again())
        yield* Kit.take(store, { lockDurationMs: 10 })
        yield* Kit.pass(10)
        yield* store.recoverStalled({ maxStalledCount: 3 })
        const ledger = yield* store.getAttempts(first.id)
        const third = yield* Kit.take(store)
        yield* store.release(third.id, third.token)
        yield* Kit.isJob(store, first.id, { state: "waiting", attemptsMade: 1, stalledCount: 1 })
        yield* Kit.isLedger(store, first.id, ledger)
      }))

    test("a job that had been delayed is waiting, not delayed", (store) =>
      Effect.gen(function* () {
        yield* Kit.add(store, { id: "job", delayMs: 50 })
        yield* Kit.pass(50)
        const held = yield* Kit.take(store)
        yield* store.release(held.id, held.token)
        yield* Kit.areStates(store, { job: "waiting" })
      }))

    test("a requested cancel is honoured: the job is cancelled", (store) =>
      Effect.gen(function* () {
        const held = yield* Kit.addAndTake(store)
        yield* store.cancel(held.id)
        yield* Kit.pass(70)
        yield* store.release(held.id, held.token)
        yield* Kit.isJob(store, held.id, {
          state: "cancelled",
          cancelRequested: false,
          attemptsMade: 0,
          finishedAt: Kit.start + 70
        })
        yield* Kit.takeNothing(store)
      }))

    test("the lock is cleared: the job is not recovered later, and its token is lost", (store) =>
      Effect.gen(function* () {
        const held = yield* Kit.addAndTake(store, undefined, { lockDurationMs: 10 })
        yield* store.release(held.id, held.token)
        yield* Kit.pass(1_000)
        assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 0 }), [])
        const answer = yield* store.extendLocks([{ id: held.id, token: held.token }], 1_000)
        assert.deepStrictEqual(answer, { lost: [held.id], cancelRequested: [] })
      }))

    test("a second release, and one by another token, is LockLostError", (store) =>
      Effect.gen(function* () {
        const held = yield* Kit.addAndTake(store)
        yield* Kit.failsWith(store.release(held.id, Kit.unique("stranger")), "LockLostError")
        yield* Kit.isJob(store, held.id, { state: "active" })
        yield* store.release(held.id, held.token)
        const error = yield* Kit.failsWith(store.release(held.id, held.token), "LockLostError")
        assert.strictEqual(error.jobId, held.id)
        yield* Kit.isJob(store, held.id, { state: "waiting" })
      }))

    for (const state of States.states.filter((state) => state !== "active")) {
      test(`a ${state} job cannot be released: LockLostError`, (store) =>
        Effect.gen(function* () {
          const id = yield* States.addIn(store, state)
          const before = yield* Kit.find(store, id)
          const error = yield* Kit.failsWith(store.release(id, Kit.unique("token")), "LockLostError")
          assert.strictEqual(error.jobId, id)
          assert.deepStrictEqual(yield* Kit.find(store, id), before)
        }))
    }

    test("an unknown id is JobNotFoundError", (store) =>
      Effect.gen(function* () {
        const error = yield* Kit.failsWith(store.release("nobody", Kit.unique("token")), "JobNotFoundError")
        assert.strictEqual(error.jobId, "nobody")
      }))
  })
