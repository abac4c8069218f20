/** `replace`: while the keyed job is still delayed, the latest request wins. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { DedupePolicy } from "../Policy.ts"
import * as States from "./stateKit.ts"
import * as Kit from "./kit.ts"

const key = (fields?: Partial<DedupePolicy>) => ({ dedupe: Kit.dedupe("key", { replace: true, ...fields }) })

const lands = (test: Kit.Test) => {
  test("replace gives a delayed job the new content under the same id", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "keyed", ...key(), delayMs: 1_000 })
      yield* Kit.pass(400)
      const request = Kit.request({
        id: "dropped",
        ...key(),
        payload: ["new"],
        metadata: { new: "yes" },
        priority: 3,
        attemptsMax: 4,
        backoff: { _tag: "fixed", delayMs: 5, factor: undefined },
        keep: { completed: { count: 1, ageMs: undefined }, failed: undefined, cancelled: undefined },
        timeoutMs: 600,
        trace: { traceId: "new", spanId: "new", sampled: true, delayed: true },
        delayMs: 2_000
      })
      assert.deepStrictEqual(yield* store.enqueue(request), { id: "keyed", duplicate: true })
      assert.deepStrictEqual(yield* Kit.find(store, "keyed"), {
        ...Kit.recordOf("keyed", request),
        enqueuedAt: Kit.start,
        runAt: Kit.start + 2_400
      })
      yield* Kit.isGone(store, "dropped")
    }))

  test("replace clears what the new request leaves out", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, {
        id: "keyed",
        ...key(),
        metadata: { old: "yes" },
        backoff: { _tag: "fixed", delayMs: 5, factor: undefined },
        keep: { completed: { count: 1, ageMs: undefined }, failed: undefined, cancelled: undefined },
        timeoutMs: 600,
        trace: { traceId: "old", spanId: "old", sampled: true, delayed: true },
        delayMs: 1_000
      })
      const request = Kit.request({ ...key(), payload: undefined, delayMs: 1_000 })
      yield* store.enqueue(request)
      assert.deepStrictEqual(yield* Kit.find(store, "keyed"), Kit.recordOf("keyed", request))
    }))

  test("replace keeps queue and parent of the job", (store) =>
    Effect.gen(function* () {
      const parent = { flowName: "f", flowId: "p", childKey: "c", parentStoreKey: "default", depth: 1 }
      yield* Kit.add(store, { id: "keyed", ...key(), parent, delayMs: 1_000 })
      yield* store.enqueue(Kit.request({ ...key(), queue: "other", payload: "new", delayMs: 500 }))
      yield* Kit.isJob(store, "keyed", { queue: Kit.queue, parent, payload: "new" })
      yield* Kit.pass(500)
      assert.deepStrictEqual(yield* Kit.takeAll(store, { queue: "other" }), [])
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["keyed"])
    }))

  test("replace keeps the ledger and the runs that were spent", (store) =>
    Effect.gen(function* () {
      const job = yield* Kit.addAndTake(store, { ...key(), attemptsMax: 5 })
      yield* store.ack(job.id, job.token, Kit.again(1_000, "first"))
      yield* store.enqueue(Kit.request({ ...key(), payload: "new", attemptsMax: 6, delayMs: 500 }))
      yield* Kit.isJob(store, job.id, { state: "delayed", payload: "new", attemptsMade: 1, attemptsMax: 6 })
      yield* Kit.isLedger(store, job.id, [Kit.run(1, "retried", { exit: "first" })])
    }))

  test("replace keeps the place in line", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "first", ...key(), delayMs: 100 })
      yield* Kit.add(store, { id: "second", delayMs: 100 })
      yield* store.enqueue(Kit.request({ ...key(), delayMs: 100 }))
      yield* Kit.pass(100)
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["first", "second"])
    }))

  test("after a replace only the new time counts", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { ...key(), delayMs: 100 })
      yield* store.enqueue(Kit.request({ ...key(), delayMs: 300 }))
      yield* Kit.pass(100)
      assert.strictEqual((yield* Kit.takeNothing(store)).nextRunAt, Kit.start + 300)
      yield* Kit.pass(200)
      assert.deepStrictEqual(yield* Kit.takeAll(store), [id])
    }))

  test("a replace without a delay makes the job claimable now", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { ...key(), delayMs: 10_000 })
      const result = yield* store.enqueue(Kit.request({ ...key(), payload: "now" }))
      assert.deepStrictEqual(result, { id, duplicate: true })
      const { job } = yield* Kit.take(store)
      assert.deepStrictEqual(Kit.pick(job, { id, payload: "now" }), { id, payload: "now" })
    }))
}

const windows = (test: Kit.Test) => {
  test("a replace starts the ttl window again", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { ...key({ ttlMs: 1_000 }), delayMs: 700 })
      yield* Kit.pass(600)
      yield* store.enqueue(Kit.request({ ...key({ ttlMs: 1_000 }), delayMs: 100 }))
      yield* Kit.pass(100)
      const job = yield* Kit.take(store)
      yield* store.ack(job.id, job.token, Kit.complete())
      yield* Kit.pass(899)
      assert.deepStrictEqual(yield* store.enqueue(Kit.request(key())), { id, duplicate: true })
      yield* Kit.pass(1)
      assert.isFalse((yield* store.enqueue(Kit.request(key()))).duplicate)
    }))

  test("a delayed job is replaced also when its window has long been over, and a window starts again", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { ...key({ ttlMs: 1_000 }), delayMs: 3_600_000 })
      // Long enough for what a store does from time to time.
      yield* Kit.pass(600_000)
      yield* Kit.roundTrips(store)
      const request = Kit.request({ ...key({ ttlMs: 1_000 }), payload: "new", delayMs: 5_000 })
      assert.deepStrictEqual(yield* store.enqueue(request), { id, duplicate: true })
      yield* Kit.isJob(store, id, { payload: "new", runAt: Kit.start + 605_000 })
      yield* Kit.pass(999)
      assert.isTrue((yield* store.enqueue(Kit.request({ dedupe: Kit.dedupe("key") }))).duplicate)
    }))

  test("a failed job whose window is over is replaced when it is delayed again", (store) =>
    Effect.gen(function* () {
      const id = yield* States.addIn(store, "failed", key({ ttlMs: 1_000 }))
      yield* Kit.pass(600_000)
      yield* Kit.roundTrips(store)
      yield* store.retry(id)
      const { token } = yield* Kit.take(store)
      yield* store.ack(id, token, Kit.again(5_000))
      const request = Kit.request({ ...key(), payload: "new", delayMs: 1_000 })
      assert.deepStrictEqual(yield* store.enqueue(request), { id, duplicate: true })
      yield* Kit.isJob(store, id, { state: "delayed", payload: "new" })
    }))

  test("a later job under the id of the keyed one is not replaced", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "job", ...key({ ttlMs: 1_000 }), delayMs: 500 })
      yield* store.remove("job")
      yield* Kit.add(store, { id: "job", payload: "later", delayMs: 500 })
      const request = Kit.request({ ...key(), payload: "new" })
      assert.deepStrictEqual(yield* store.enqueue(request), { id: "job", duplicate: true })
      yield* Kit.isJob(store, "job", { payload: "later", runAt: Kit.start + 500 })
    }))

  test("a replace without ttlMs leaves a key without a window held until the job has ended", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { ...key(), delayMs: 100 })
      yield* store.enqueue(Kit.request({ ...key(), delayMs: 100 }))
      yield* Kit.pass(5_000)
      const job = yield* Kit.take(store)
      assert.deepStrictEqual(yield* store.enqueue(Kit.request(key())), { id, duplicate: true })
      yield* store.ack(job.id, job.token, Kit.complete())
      assert.isFalse((yield* store.enqueue(Kit.request(key()))).duplicate)
    }))
}

const plain = (test: Kit.Test) => {
  for (const state of ["waiting", "active", "waiting-children"] as const) {
    test(`on a ${state} job replace is plain dedupe and changes nothing`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state, key())
        const before = yield* Kit.find(store, id)
        yield* Kit.pass(10)
        const result = yield* store.enqueue(Kit.request({ ...key(), payload: "new", priority: 8, delayMs: 5 }))
        assert.deepStrictEqual(result, { id, duplicate: true })
        assert.deepStrictEqual(yield* Kit.find(store, id), before)
      }))
  }

  for (const state of ["completed", "failed", "cancelled"] as const) {
    test(`on a ${state} job within its window replace changes nothing, and without a window a new job is made`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state, key({ ttlMs: 1_000 }))
        const before = yield* Kit.find(store, id)
        assert.deepStrictEqual(yield* store.enqueue(Kit.request({ ...key(), payload: "new" })), { id, duplicate: true })
        assert.deepStrictEqual(yield* Kit.find(store, id), before)
        yield* Kit.pass(1_000)
        const successor = yield* Kit.add(store, { ...key(), payload: "new" })
        assert.notStrictEqual(successor, id)
      }))
  }

  test("a replace against a job that is not delayed does not start its window again", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, key({ ttlMs: 1_000 }))
      yield* Kit.pass(600)
      assert.isTrue((yield* store.enqueue(Kit.request(key({ ttlMs: 1_000 })))).duplicate)
      yield* Kit.pass(400)
      assert.isFalse((yield* store.enqueue(Kit.request(key()))).duplicate)
    }))

  test("replace without a keyed job is a plain enqueue", (store) =>
    Effect.gen(function* () {
      const request = Kit.request({ id: "new", ...key(), delayMs: 50 })
      assert.deepStrictEqual(yield* store.enqueue(request), { id: "new", duplicate: false })
      assert.deepStrictEqual(yield* Kit.find(store, "new"), Kit.recordOf("new", request))
    }))
}

export const dedupeReplace = (test: Kit.Test) =>
  describe("dedupe: replace", () => {
    lands(test)
    windows(test)
    plain(test)
  })
