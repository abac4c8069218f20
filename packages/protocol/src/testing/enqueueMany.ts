/** Putting many jobs in by one call: each item as if it were enqueued alone, in order. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { EnqueueRequest } from "../Enqueue.ts"
import * as States from "./stateKit.ts"
import * as Kit from "./kit.ts"

const shapes: ReadonlyArray<EnqueueRequest> = [
  Kit.request({ id: "plain" }),
  Kit.request({ id: "empty", payload: undefined }),
  Kit.request({ id: "null", payload: null }),
  Kit.request({ id: "delayed", delayMs: 5_000 }),
  Kit.request({ id: "elsewhere", queue: "other", name: "other", priority: -3, timeoutMs: 10 }),
  Kit.request({ id: "kept", keep: { completed: { count: 1, ageMs: 2 }, failed: undefined, cancelled: undefined } }),
  Kit.request({ id: "again", attemptsMax: 9, backoff: { _tag: "fixed", delayMs: 3, factor: undefined } }),
  Kit.request({ id: "traced", trace: { traceId: "t", spanId: "s", sampled: false, delayed: false } }),
  Kit.request({ id: "labelled", metadata: { a: "1", b: "" } }),
  Kit.request({ id: "keyed", dedupe: Kit.dedupe("k") }),
  Kit.request({
    id: "child",
    parent: { flowName: "f", flowId: "p", childKey: "c", parentStoreKey: "default", depth: 1 }
  })
]

const alone = (test: Kit.Test) => {
  test("answers by position, and keeps every field of every item", (store) =>
    Effect.gen(function* () {
      const results = yield* store.enqueueMany(shapes)
      assert.deepStrictEqual(
        results,
        shapes.map(({ id }) => ({ id: id ?? "", duplicate: false }))
      )
      for (const request of shapes) {
        const id = request.id ?? ""
        assert.deepStrictEqual(yield* Kit.find(store, id), Kit.recordOf(id, request))
      }
    }))

  test("nothing in, nothing out", (store) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* store.enqueueMany([]), [])
      assert.deepStrictEqual((yield* store.list({})).items, [])
    }))

  test("items stand in line in their order, also in a long batch", (store) =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 300 }, (_, index) => `item-${(index * 37) % 300}`)
      const results = yield* store.enqueueMany(ids.map((id) => Kit.request({ id })))
      assert.deepStrictEqual(
        results.map(({ id }) => id),
        ids
      )
      for (let first = 0; first < 300; first += 20) {
        // Claims that run at once take the next twenty, in no order among them.
        const twenty = yield* Effect.all(
          Array.from({ length: 20 }, () => Kit.take(store)),
          { concurrency: "unbounded" }
        )
        assert.sameMembers(
          twenty.map(({ id }) => id),
          ids.slice(first, first + 20)
        )
      }
    }))

  test("items without ids get one each", (store) =>
    Effect.gen(function* () {
      const results = yield* store.enqueueMany(Array.from({ length: 60 }, (_, n) => Kit.request({ payload: { n } })))
      assert.strictEqual(new Set(results.map(({ id }) => id)).size, 60)
      for (const [n, { id, duplicate }] of results.entries()) {
        assert.isFalse(duplicate)
        yield* Kit.isJob(store, id, { payload: { n }, state: "waiting" })
      }
    }))

  test("an item that is refused refuses the call before anything is written", (store) =>
    Effect.gen(function* () {
      const reason = yield* Kit.refusedFor(
        store.enqueueMany([Kit.request({ id: "good" }), Kit.request({ id: "bad", name: "" })]),
        "InvalidArgument"
      )
      assert.strictEqual(reason.field, "requests[1].name")
      yield* Kit.isGone(store, "good")
    }))
}

const inOrder = (test: Kit.Test) => {
  for (const state of States.states) {
    test(`an item whose id exists is a duplicate, and its neighbours are enqueued (${state})`, (store) =>
      Effect.gen(function* () {
        yield* States.addIn(store, state, { id: "taken" })
        const before = yield* Kit.find(store, "taken")
        const results = yield* store.enqueueMany(
          ["first", "taken", "last"].map((id) => Kit.request({ id, payload: id }))
        )
        assert.deepStrictEqual(results, [
          { id: "first", duplicate: false },
          { id: "taken", duplicate: true },
          { id: "last", duplicate: false }
        ])
        assert.deepStrictEqual(yield* Kit.find(store, "taken"), before)
        yield* Kit.areStates(store, { first: "waiting", last: "waiting" })
      }))
  }

  test("an id that comes twice is a duplicate the second time", (store) =>
    Effect.gen(function* () {
      const results = yield* store.enqueueMany([
        Kit.request({ id: "twice", payload: 1 }),
        Kit.request({ id: "twice", payload: 2 })
      ])
      assert.deepStrictEqual(results, [
        { id: "twice", duplicate: false },
        { id: "twice", duplicate: true }
      ])
      yield* Kit.isJob(store, "twice", { payload: 1 })
    }))

  test("an item sees the dedupe keys that items before it took", (store) =>
    Effect.gen(function* () {
      const dedupe = Kit.dedupe("k")
      const results = yield* store.enqueueMany([
        Kit.request({ id: "a", dedupe }),
        Kit.request({ id: "b", dedupe }),
        Kit.request({ id: "c" }),
        Kit.request({ id: "d", dedupe: { ...dedupe, key: "other" } })
      ])
      assert.deepStrictEqual(results, [
        { id: "a", duplicate: false },
        { id: "a", duplicate: true },
        { id: "c", duplicate: false },
        { id: "d", duplicate: false }
      ])
      yield* Kit.areStates(store, { a: "waiting", b: "gone", c: "waiting", d: "waiting" })
    }))

  test("an item replaces the delayed job that an item before it keyed, and the last one wins", (store) =>
    Effect.gen(function* () {
      const dedupe = Kit.dedupe("k", { replace: true })
      const results = yield* store.enqueueMany([
        Kit.request({ id: "a", dedupe, payload: 1, delayMs: 100 }),
        Kit.request({ dedupe, payload: 2, delayMs: 200 }),
        Kit.request({ dedupe, payload: 3, delayMs: 300 })
      ])
      assert.deepStrictEqual(results, [
        { id: "a", duplicate: false },
        { id: "a", duplicate: true },
        { id: "a", duplicate: true }
      ])
      yield* Kit.isJob(store, "a", { state: "delayed", payload: 3, runAt: Kit.start + 300 })
    }))
}

export const enqueueMany = (test: Kit.Test) =>
  describe("enqueueMany", () => {
    alone(test)
    inOrder(test)
  })
