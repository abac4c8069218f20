/** What effect-mq's own suite does not ask of the adapter: errors by class, wake numbers, numbers that the contract has not. */
import { assert, describe, expect, it } from "@effect/vitest"
import {
  type AckOutcome,
  type EnqueueRequest,
  JobNotCancellableError,
  JobNotFoundError,
  JobNotPromotableError,
  JobNotRetryableError,
  JobStoreError,
  Limits,
  LockLostError,
  type ScheduleRecord
} from "@jobwire/protocol"
import { Cause, Effect, Exit } from "effect"
import { JobStore as Theirs } from "effect-mq"
import { adapt, id, queue, request } from "../support/adapted-store.ts"

describe("errors", () => {
  const cases = [
    [new LockLostError({ jobId: id }), Theirs.LockLostError, { jobId: id }],
    [new JobNotFoundError({ jobId: id }), Theirs.JobNotFoundError, { jobId: id }]
  ] as const
  for (const [ours, theirs, fields] of cases) {
    it.effect(`${ours._tag} is effect-mq's class`, () =>
      Effect.gen(function* () {
        const store = adapt({ ack: () => Effect.fail(ours) })
        const error = yield* Effect.flip(store.ack(id, "token", { _tag: "Cancelled" }))
        expect(error).toBeInstanceOf(theirs)
        expect(error).toMatchObject(fields)
      })
    )
  }

  it.effect("the refusals of retry, cancel and promote are effect-mq's classes, with the state", () =>
    Effect.gen(function* () {
      const store = adapt({
        retry: (jobId) => Effect.fail(new JobNotRetryableError({ jobId, state: "waiting" })),
        cancel: (jobId) => Effect.fail(new JobNotCancellableError({ jobId, state: "completed" })),
        promote: (jobId) => Effect.fail(new JobNotPromotableError({ jobId, state: "active" }))
      })
      const retry = yield* Effect.flip(store.retry(id))
      expect(retry).toBeInstanceOf(Theirs.JobNotRetryableError)
      expect(retry).toMatchObject({ jobId: id, state: "waiting" })
      const cancel = yield* Effect.flip(store.cancel(id))
      expect(cancel).toBeInstanceOf(Theirs.JobNotCancellableError)
      expect(cancel).toMatchObject({ jobId: id, state: "completed" })
      const promote = yield* Effect.flip(store.promote(id))
      expect(promote).toBeInstanceOf(Theirs.JobNotPromotableError)
      expect(promote).toMatchObject({ jobId: id, state: "active" })
    })
  )

  it.effect("a JobStoreError keeps its message and has ours as its cause", () =>
    Effect.gen(function* () {
      const ours = new JobStoreError({
        message: "http://example.test did not answer",
        reason: { _tag: "DeadlineExceeded", url: "http://example.test", afterMs: 5 }
      })
      const error = yield* Effect.flip(adapt({ counts: () => Effect.fail(ours) }).counts())
      expect(error).toBeInstanceOf(Theirs.JobStoreError)
      expect(error.message).toBe("http://example.test did not answer")
      expect(error.cause).toBe(ours)
    })
  )

  it.effect("a defect stays a defect", () =>
    Effect.gen(function* () {
      const defect = new Error("broken")
      const exit = yield* Effect.exit(adapt({ counts: () => Effect.die(defect) }).counts())
      assert(Exit.isFailure(exit))
      expect(Cause.squash(exit.cause)).toBe(defect)
      expect(Cause.hasDies(exit.cause)).toBe(true)
    })
  )
})

describe("wake tokens", () => {
  const claim = { queue, names: ["name"], token: "token", lockDurationMs: 1000 }

  it.effect("are numbers that grow and stand for our strings", () =>
    Effect.gen(function* () {
      const given = ["b", "a", "c"]
      const awaited: Array<readonly [ReadonlyArray<string>, string]> = []
      const store = adapt({
        claim: () => Effect.sync(() => ({ _tag: "Empty", nextRunAt: undefined, wakeToken: given.shift() ?? "none" })),
        awaitWake: (queues, token) => Effect.sync(() => awaited.push([queues, token]))
      })
      const numbers: Array<number> = []
      for (let index = 0; index < 3; index++) {
        const result = yield* store.claim(claim)
        assert(result._tag === "Empty")
        numbers.push(result.wakeToken)
      }
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      expect(new Set(numbers).size).toBe(3)
      for (const number of numbers) yield* store.awaitWake([queue], number)
      expect(awaited).toEqual([
        [["queue"], "b"],
        [["queue"], "a"],
        [["queue"], "c"]
      ])
    })
  )

  it.effect("a number that nobody was given resolves at once, and so does one from long ago", () =>
    Effect.gen(function* () {
      const store = adapt({
        claim: () => Effect.succeed({ _tag: "Empty", nextRunAt: undefined, wakeToken: "token" }),
        awaitWake: () => Effect.never
      })
      yield* store.awaitWake([queue], 77)
      const first = yield* store.claim(claim)
      assert(first._tag === "Empty")
      for (let index = 0; index < 5000; index++) yield* store.claim(claim)
      yield* store.awaitWake([queue], first.wakeToken)
    })
  )
})

describe("numbers beyond the contract", () => {
  const century = Limits.defaults.durationMs

  it.effect("of a request become the nearest that it has", () =>
    Effect.gen(function* () {
      const seen: Array<EnqueueRequest> = []
      const store = adapt({
        enqueue: (given) => Effect.sync(() => (seen.push(given), { id: "job-1", duplicate: false }))
      })
      yield* store.enqueue(
        request({
          attemptsMax: Infinity,
          delayMs: -1,
          timeoutMs: Infinity,
          backoff: { _tag: "exponential", delayMs: Infinity },
          keep: { completed: { count: 1.5, ageMs: Infinity }, failed: { count: Infinity }, cancelled: { count: -3 } },
          dedupe: { key: "key", ttlMs: Infinity, extend: false, replace: false }
        })
      )
      expect(seen[0]).toMatchObject({
        attemptsMax: 2_147_483_647,
        delayMs: 0,
        timeoutMs: century,
        backoff: { _tag: "exponential", delayMs: century, factor: undefined },
        keep: {
          completed: { count: 1, ageMs: century },
          failed: { count: 2_147_483_647, ageMs: undefined },
          cancelled: { count: 0, ageMs: undefined }
        },
        dedupe: { key: "key", ttlMs: century, extend: false, replace: false }
      })
    })
  )

  it.effect("of a schedule become the nearest that it has", () =>
    Effect.gen(function* () {
      const seen: Array<ScheduleRecord> = []
      const store = adapt({ upsertSchedule: (given) => Effect.sync(() => void seen.push(given)) })
      const { delayMs: _, dedupe: __, id: ___, name, parent: ____, trace: _____, ...shared } = request()
      yield* store.upsertSchedule({
        ...shared,
        key: Theirs.ScheduleKey("key"),
        jobName: name,
        cron: undefined,
        tz: undefined,
        everyMs: Infinity,
        attemptsMax: Infinity,
        group: undefined,
        nextRunAt: 0
      })
      expect(seen[0]).toMatchObject({ everyMs: century, attemptsMax: 2_147_483_647 })
    })
  )

  it.effect("of a retry become the nearest: a backoff beyond all years, and none times infinity", () =>
    Effect.gen(function* () {
      const seen: Array<AckOutcome> = []
      const store = adapt({ ack: (_id, _token, outcome) => Effect.sync(() => void seen.push(outcome)) })
      for (const delayMs of [Infinity, 1e300, Number.NaN, -5]) {
        yield* store.ack(id, "token", { _tag: "Retry", delayMs, exit: null })
      }
      expect(seen.map((outcome) => outcome._tag === "Retry" && outcome.delayMs)).toEqual([century, century, 0, 0])
    })
  )

  it.effect("of a lease, a stall limit and a page become the nearest", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const store = adapt({
        claim: ({ lockDurationMs }) =>
          Effect.sync(() => (seen.push(lockDurationMs), { _tag: "Empty", nextRunAt: undefined, wakeToken: "t" })),
        extendLocks: (_locks, durationMs) =>
          Effect.sync(() => (seen.push(durationMs), { lost: [], cancelRequested: [] })),
        recoverStalled: (options) => Effect.sync(() => (seen.push(options), [])),
        list: ({ limit }) => Effect.sync(() => (seen.push(limit), { items: [], cursor: undefined })),
        flowSweepWork: (options) => Effect.sync(() => (seen.push(options), { reconcile: [], cascade: [] }))
      })
      yield* store.claim({ queue, names: ["name"], token: "t", lockDurationMs: Infinity })
      yield* store.extendLocks([], Infinity)
      yield* store.recoverStalled({ maxStalledCount: Infinity })
      yield* store.list({ limit: 0 })
      yield* store.list({ limit: 2.5 })
      yield* store.list({ limit: Infinity })
      yield* store.flowSweepWork({ pendingAgeMs: Infinity, limit: Infinity })
      expect(seen).toEqual([
        century,
        century,
        { maxStalledCount: 2_147_483_647 },
        1,
        2,
        1000,
        { pendingAgeMs: century, limit: 1000 }
      ])
    })
  )

  it.effect("that mean nothing are refused by name", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(adapt({}).enqueue(request({ priority: 0.5 })))
      expect(error).toBeInstanceOf(Theirs.JobStoreError)
      expect(error.message).toContain("request.priority")
      expect(error.message).toContain("0.5")
    })
  )

  it.effect("an outbox page of nothing is empty, and the start of the outbox has no name", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const store = adapt({ peekOutbox: (options) => Effect.sync(() => (seen.push(options), [])) })
      expect(yield* store.peekOutbox({ limit: 0 })).toEqual([])
      expect(yield* store.peekOutbox({ limit: 5, after: "" })).toEqual([])
      expect(seen).toEqual([{ limit: 5, after: undefined }])
    })
  )
})
