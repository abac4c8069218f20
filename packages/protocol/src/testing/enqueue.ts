/** Putting one job in: its record, its id, its delay. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { EnqueueRequest } from "../Enqueue.ts"
import * as States from "./stateKit.ts"
import * as Kit from "./kit.ts"

const everyField: Partial<EnqueueRequest> = {
  id: "every-field",
  payload: { deep: [1, { two: "zwei" }, null, true], text: "ünïcode ✓" },
  metadata: { tenant: "a", region: "eu" },
  priority: 7,
  attemptsMax: 5,
  backoff: { _tag: "exponential", delayMs: 250, factor: 1.5 },
  keep: {
    completed: { count: 10, ageMs: undefined },
    failed: { count: undefined, ageMs: 86_400_000 },
    cancelled: { count: 0, ageMs: 1 }
  },
  timeoutMs: 12_345,
  dedupe: { key: "only-one", ttlMs: 5_000, extend: true, replace: true },
  trace: { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true, delayed: true },
  parent: { flowName: "flow", flowId: "parent", childKey: "left", parentStoreKey: "default", depth: 2 },
  delayMs: 90_000
}

// The next few ids that a counter at the end of an id would give.
const successorsOf = (id: string): ReadonlyArray<string> => {
  const digits = /\d{1,15}$/.exec(id)?.[0] ?? ""
  const head = id.slice(0, id.length - digits.length)
  return Array.from({ length: 20 }, (_, index) => `${head}${Number(digits) + index + 1}`)
}

const records = (test: Kit.Test) => {
  test("without a delay a job is waiting and runs from now", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store)
      assert.deepStrictEqual(yield* Kit.find(store, id), Kit.recordOf(id, Kit.request()))
      yield* Kit.isLedger(store, id, [])
    }))

  test("with a delay above 0 a job is delayed until now + delayMs", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { delayMs: 1_500 })
      yield* Kit.isJob(store, id, { state: "delayed", runAt: Kit.start + 1_500, enqueuedAt: Kit.start })
    }))

  test("a negative delay counts as none, and a fraction is rounded up to a whole millisecond", (store) =>
    Effect.gen(function* () {
      const early = yield* Kit.add(store, { delayMs: -10 })
      yield* Kit.isJob(store, early, { state: "waiting", runAt: Kit.start })
      const late = yield* Kit.add(store, { delayMs: 0.25 })
      yield* Kit.isJob(store, late, { state: "delayed", runAt: Kit.start + 1 })
    }))

  test("every field of the request is kept, and getJob, list and claim give the same complete record", (store) =>
    Effect.gen(function* () {
      const request = Kit.request(everyField)
      assert.deepStrictEqual(yield* store.enqueue(request), { id: "every-field", duplicate: false })
      const expected = Kit.recordOf("every-field", request)
      assert.deepStrictEqual(yield* Kit.find(store, "every-field"), expected)
      assert.deepStrictEqual((yield* store.list({})).items, [expected])
      yield* Kit.pass(90_000)
      const { job } = yield* Kit.take(store)
      assert.deepStrictEqual(job, { ...expected, state: "active", processedAt: Kit.start + 90_000 })
      assert.deepStrictEqual(yield* Kit.find(store, "every-field"), job)
      assert.deepStrictEqual((yield* store.list({})).items, [job])
    }))

  test("times come from the clock of the caller", (store) =>
    Effect.gen(function* () {
      yield* Kit.pass(86_400_000)
      const id = yield* Kit.add(store)
      yield* Kit.isJob(store, id, { enqueuedAt: Kit.start + 86_400_000, runAt: Kit.start + 86_400_000 })
    }))
}

const ids = (test: Kit.Test) => {
  for (const state of States.states) {
    test(`an id that exists is a duplicate and changes nothing (${state})`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state, { id: "taken" })
        const before = yield* Kit.find(store, id)
        const ledger = yield* store.getAttempts(id)
        yield* Kit.pass(10)
        const again = Kit.request({ id, name: "other", queue: "other", payload: "new", priority: 9, delayMs: 5 })
        assert.deepStrictEqual(yield* store.enqueue(again), { id, duplicate: true })
        assert.strictEqual(before.state, state)
        assert.deepStrictEqual(yield* Kit.find(store, id), before)
        assert.deepStrictEqual(yield* store.getAttempts(id), ledger)
        assert.strictEqual((yield* store.list({})).items.length, 1)
      }))
  }

  test("an id that exists is decided before the dedupe rules", (store) =>
    Effect.gen(function* () {
      const dedupe = { key: "key", ttlMs: 1_000, extend: true, replace: true }
      yield* Kit.add(store, { id: "keyed", dedupe, delayMs: 500, payload: "old" })
      yield* Kit.add(store, { id: "other" })
      yield* Kit.pass(400)
      const result = yield* store.enqueue(Kit.request({ id: "other", dedupe, payload: "new" }))
      assert.deepStrictEqual(result, { id: "other", duplicate: true })
      yield* Kit.isJob(store, "keyed", { payload: "old", runAt: Kit.start + 500 })
      // Had the window been extended, it would still hold here.
      yield* Kit.pass(600)
      assert.isFalse((yield* store.enqueue(Kit.request({ dedupe: { ...dedupe, replace: false } }))).duplicate)
    }))

  test("without an id the store draws another one each time", (store) =>
    Effect.gen(function* () {
      const drawn = yield* Effect.forEach(Array.from({ length: 50 }), () => Kit.add(store))
      assert.strictEqual(new Set(drawn).size, 50)
      for (const id of drawn) assert.isAbove(id.length, 0)
      assert.strictEqual((yield* store.counts()).waiting, 50)
    }))

  test("a drawn id never collides with one that a caller gave", (store) =>
    Effect.gen(function* () {
      const taken = successorsOf(yield* Kit.add(store))
      yield* Kit.addAll(store, taken, { payload: "the caller's" })
      const drawn = yield* Effect.forEach(taken, () => Kit.add(store, { payload: "the store's" }))
      assert.strictEqual(new Set([...taken, ...drawn]).size, taken.length + drawn.length)
      for (const id of taken) yield* Kit.isJob(store, id, { payload: "the caller's" })
      for (const id of drawn) yield* Kit.isJob(store, id, { payload: "the store's" })
    }))

  test("ids are compared exactly: case, spaces and composed letters matter", (store) =>
    Effect.gen(function* () {
      const different = ["job", "JOB", "job ", " job", "\u00e9", "e\u0301", "1", "01", "__proto__", "constructor"]
      for (const id of different) yield* Kit.add(store, { id, payload: { id } })
      for (const id of different) yield* Kit.isJob(store, id, { id, payload: { id } })
      yield* Kit.isGone(store, "toString")
    }))
}

export const enqueue = (test: Kit.Test) =>
  describe("enqueue", () => {
    records(test)
    ids(test)
  })
