/** Errors: which one says what, about which job, and whether trying again can help. */
import { assert, describe } from "@effect/vitest"
import { Effect, Option } from "effect"
import {
  JobNotCancellableError,
  JobNotFoundError,
  JobNotPromotableError,
  JobNotRetryableError,
  JobStoreError,
  LockLostError
} from "../Errors.ts"
import { child, fanOut, ignored, report } from "./flowKit.ts"
import * as Kit from "./kit.ts"
import * as States from "./stateKit.ts"

const unknown = "unknown"

const unknowns = (test: Kit.Test) => {
  const missing: ReadonlyArray<{
    readonly operation: string
    readonly call: (store: Kit.Store) => Effect.Effect<unknown, { readonly _tag: string }>
  }> = [
    { operation: "ack Complete", call: (store) => store.ack(unknown, "token", Kit.complete()) },
    { operation: "ack Fail", call: (store) => store.ack(unknown, "token", Kit.fail()) },
    { operation: "ack Retry", call: (store) => store.ack(unknown, "token", Kit.again()) },
    { operation: "ack Cancelled", call: (store) => store.ack(unknown, "token", Kit.cancelled) },
    { operation: "ack FanOut", call: (store) => store.ack(unknown, "token", fanOut([child(unknown, "a")])) },
    { operation: "release", call: (store) => store.release(unknown, "token") },
    { operation: "retry", call: (store) => store.retry(unknown) },
    { operation: "cancel", call: (store) => store.cancel(unknown) },
    { operation: "promote", call: (store) => store.promote(unknown) }
  ]

  for (const { call, operation } of missing) {
    test(`${operation} of an unknown job is JobNotFoundError with its id`, (store) =>
      Effect.gen(function* () {
        const error = yield* Kit.failsWith(call(store), "JobNotFoundError")
        assert.instanceOf(error, JobNotFoundError)
        assert.deepInclude(error, { jobId: unknown })
      }))

    test(`${operation} of a job that was removed is JobNotFoundError`, (store) =>
      Effect.gen(function* () {
        yield* Kit.add(store, { id: unknown })
        yield* store.remove(unknown)
        yield* Kit.failsWith(call(store), "JobNotFoundError")
      }))
  }

  test("what answers otherwise to what is not there, answers so", (store) =>
    Effect.gen(function* () {
      assert.isTrue(Option.isNone(yield* store.getJob(unknown)))
      assert.deepStrictEqual(yield* store.getAttempts(unknown), [])
      assert.isFalse(yield* store.remove(unknown))
      assert.isFalse(yield* store.cancelByDedupe(Kit.name, unknown))
      assert.isFalse(yield* store.cancelByDedupe(unknown, unknown))
      assert.deepStrictEqual(yield* store.extendLocks([{ id: unknown, token: "token" }], 1000), {
        lost: [unknown],
        cancelRequested: []
      })
      assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 0 }), [])
      assert.deepStrictEqual(yield* store.list({ queue: unknown }), { items: [], cursor: undefined })
      assert.isFalse(yield* store.removeSchedule(unknown))
      assert.deepStrictEqual(yield* store.dueSchedules(), [])
      assert.deepStrictEqual(yield* store.listSchedules({ queue: unknown }), [])
      assert.isFalse(yield* store.tickSchedule(unknown, 0, 1, Kit.request({ id: unknown })))
      assert.deepStrictEqual(yield* store.recordChildResults([report(unknown, "a", "completed")]), [ignored])
      assert.deepStrictEqual(yield* store.listChildResults(unknown), { items: [], cursor: undefined })
      assert.deepStrictEqual(yield* store.peekOutbox({ limit: 1, after: unknown }), [])
      assert.deepStrictEqual(yield* store.pausedQueues(), [])
    }))

  test("what has nothing to answer is a success also for what is not there, and makes nothing", (store) =>
    Effect.gen(function* () {
      yield* store.resume(unknown)
      yield* store.advanceSchedule(unknown, 0, 1)
      yield* store.markChildrenCascaded(unknown, ["a"])
      yield* store.deleteOutbox([unknown])
      assert.deepStrictEqual(yield* store.list({}), { items: [], cursor: undefined })
      assert.deepStrictEqual(yield* store.listSchedules(), [])
      assert.deepStrictEqual(yield* store.pausedQueues(), [])
    }))
}

const states = (test: Kit.Test) => {
  for (const state of States.states.filter((each) => each !== "failed")) {
    test(`retry of a job that is ${state} is JobNotRetryableError with its id and state`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        const error = yield* Kit.failsWith(store.retry(id), "JobNotRetryableError")
        assert.instanceOf(error, JobNotRetryableError)
        assert.deepInclude(error, { jobId: id, state })
        yield* Kit.isJob(store, id, { state })
      }))
  }

  for (const state of ["completed", "failed", "cancelled"] as const) {
    test(`cancel of a job that is ${state} is JobNotCancellableError with its id and state`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        const before = yield* Kit.find(store, id)
        const error = yield* Kit.failsWith(store.cancel(id), "JobNotCancellableError")
        assert.instanceOf(error, JobNotCancellableError)
        assert.deepInclude(error, { jobId: id, state })
        assert.deepStrictEqual(yield* Kit.find(store, id), before)
      }))
  }

  for (const state of States.states.filter((each) => each !== "delayed")) {
    test(`promote of a job that is ${state} is JobNotPromotableError with its id and state`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        const error = yield* Kit.failsWith(store.promote(id), "JobNotPromotableError")
        assert.instanceOf(error, JobNotPromotableError)
        assert.deepInclude(error, { jobId: id, state })
        yield* Kit.isJob(store, id, { state })
      }))
  }

  for (const state of States.states) {
    test(`ack and release with a token that does not hold a job that is ${state} are LockLostError`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        const before = yield* Kit.find(store, id)
        for (const call of [store.ack(id, "never held", Kit.complete("x")), store.release(id, "never held")]) {
          const error = yield* Kit.failsWith(call, "LockLostError")
          assert.instanceOf(error, LockLostError)
          assert.deepInclude(error, { jobId: id })
        }
        assert.deepStrictEqual(yield* Kit.find(store, id), before)
      }))
  }
}

const refused = (test: Kit.Test) => {
  test("a refusal is a JobStoreError that names the field, and trying again cannot help", (store) =>
    Effect.gen(function* () {
      const calls = [
        { call: store.enqueue(Kit.request({ queue: "" })), field: "request.queue" },
        { call: store.getJob("x".repeat(10_000)), field: "id" },
        { call: store.list({ limit: 0 }), field: "options.limit" },
        { call: store.list({ cursor: "not a cursor" }), field: "options.cursor" },
        { call: store.ack("id", "token", Kit.complete(Number.NaN)), field: "outcome.exit" }
      ]
      for (const { call, field } of calls) {
        const error = yield* Kit.failsWith(call, "JobStoreError")
        assert.instanceOf(error, JobStoreError)
        assert.include(error.message, field)
        assert.deepInclude(error.reason, { field })
        assert.isFalse(error.isRetryable)
        assert.isFalse(error.mayHaveHappened)
      }
    }))

  test("arguments are checked before the job is looked for", (store) =>
    Effect.gen(function* () {
      yield* Kit.refusedFor(store.ack(unknown, "", Kit.complete()), "InvalidArgument")
      yield* Kit.refusedFor(store.retry(""), "InvalidArgument")
    }))

  test("an error about a job says which one", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.addFinished(store, "completed", { id: "job-7" })
      for (const error of [
        yield* Kit.failsWith(store.retry(id), "JobNotRetryableError"),
        yield* Kit.failsWith(store.cancel(id), "JobNotCancellableError"),
        yield* Kit.failsWith(store.promote(id), "JobNotPromotableError"),
        yield* Kit.failsWith(store.release(id, "token"), "LockLostError")
      ]) {
        assert.include(error.message, "job-7")
      }
      assert.include((yield* Kit.failsWith(store.cancel(unknown), "JobNotFoundError")).message, unknown)
    }))

  test("after an error the store goes on as before", (store) =>
    Effect.gen(function* () {
      yield* Effect.all(
        [
          Kit.failsWith(store.enqueue(Kit.request({ payload: Number.NaN })), "JobStoreError"),
          Kit.failsWith(store.cancel(unknown), "JobNotFoundError"),
          Kit.failsWith(store.list({ limit: -1 }), "JobStoreError")
        ],
        { concurrency: "unbounded" }
      )
      const { id, token } = yield* Kit.addAndTake(store)
      yield* store.ack(id, token, Kit.complete())
      yield* Kit.isJob(store, id, { state: "completed" })
    }))
}

export const errors = (test: Kit.Test) => {
  describe("errors: what is not there", () => {
    unknowns(test)
  })
  describe("errors: the wrong state", () => {
    states(test)
  })
  describe("errors: refusals", () => {
    refused(test)
  })
}
