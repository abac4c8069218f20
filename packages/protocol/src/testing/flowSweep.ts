/** What a sweeper has to look after: children to reconcile and cancels to carry. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Json from "../Json.ts"
import * as Limits from "../Limits.ts"
import {
  addParent,
  applied,
  areRows,
  child,
  childId,
  childStore,
  fanOut,
  owed,
  records,
  report,
  row,
  settled,
  sweep
} from "./flowKit.ts"
import * as Kit from "./kit.ts"

const minute = 60_000

const reconcile = (test: Kit.Test) => {
  test("a store without flows has no work", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store)
      assert.deepStrictEqual(yield* store.flowSweepWork({ pendingAgeMs: 0 }), { reconcile: [], cascade: [] })
    }))

  test("a pending row is given once it has been pending for pendingAgeMs, to the millisecond", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"])
      yield* Kit.pass(minute - 1)
      assert.deepStrictEqual(yield* sweep(store, { pendingAgeMs: minute }), { reconcile: {}, cascade: {} })
      yield* Kit.pass(1)
      assert.deepStrictEqual(yield* sweep(store, { pendingAgeMs: minute }), {
        reconcile: { [id]: ["a", "b"] },
        cascade: {}
      })
    }))

  test("a row comes with the complete request that the fan-out stored", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store)
      const spec = child(id, "a", {
        queue: "elsewhere",
        payload: { list: [null, { deep: "\u{1f600}" }] },
        metadata: { k: "v" },
        priority: -3,
        attemptsMax: 4,
        backoff: { _tag: "exponential", delayMs: 10, factor: 3 },
        keep: { completed: { count: 1, ageMs: 2 }, failed: undefined, cancelled: undefined },
        timeoutMs: 77,
        dedupe: { key: "k", ttlMs: 5, extend: true, replace: true },
        trace: { traceId: "t", spanId: "s", sampled: false, delayed: true },
        delayMs: 900
      })
      const bare = child(id, "b", { payload: undefined, parent: undefined })
      yield* store.ack(id, token, fanOut([spec, bare]))
      const work = yield* store.flowSweepWork({ pendingAgeMs: 0 })
      const [group, ...rest] = work.reconcile
      assert.isEmpty(rest)
      assert.strictEqual(group?.flowId, id)
      const byKey = new Map(group?.children.map((each) => [each.childKey, each]))
      assert.deepStrictEqual(
        byKey,
        new Map([
          ["a", spec],
          ["b", bare]
        ])
      )
    }))

  test("giving a row starts its age anew", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      yield* Kit.pass(minute)
      const found = { reconcile: { [id]: ["a"] }, cascade: {} }
      assert.deepStrictEqual(yield* sweep(store, { pendingAgeMs: minute }), found)
      assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: minute })).reconcile, {})
      yield* Kit.pass(minute - 1)
      assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: minute })).reconcile, {})
      yield* Kit.pass(1)
      assert.deepStrictEqual(yield* sweep(store, { pendingAgeMs: minute }), found)
    }))

  test("a full page rotates: every row comes before any comes again", (store) =>
    Effect.gen(function* () {
      const one = yield* addParent(store, ["a", "b", "c"])
      const other = yield* addParent(store, ["a", "b"])
      yield* Kit.pass(minute)
      const seen: Array<string> = []
      for (const expected of [2, 2, 1, 0]) {
        const { reconcile } = yield* store.flowSweepWork({ pendingAgeMs: minute, limit: 2 })
        const rows = reconcile.flatMap(({ children, flowId }) => children.map((each) => `${flowId} ${each.childKey}`))
        assert.lengthOf(rows, expected)
        seen.push(...rows)
      }
      const all = [
        ...["a", "b", "c"].map((key) => `${one.id} ${key}`),
        ...["a", "b"].map((key) => `${other.id} ${key}`)
      ]
      assert.sameMembers(seen, all)
    }))

  test("rows that have waited longer are not starved by rows that were given", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b", "c"])
      yield* Kit.pass(minute)
      const seen = new Set<string>()
      for (let round = 0; round < 3; round++) {
        const { reconcile } = yield* sweep(store, { pendingAgeMs: minute, limit: 1 })
        for (const key of reconcile[id] ?? []) seen.add(key)
        yield* Kit.pass(minute)
      }
      assert.sameMembers([...seen], ["a", "b", "c"])
    }))

  test("a row that a report has settled is not given", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b", "c", "d"])
      yield* records(
        store,
        [report(id, "a", "completed"), report(id, "b", "failed"), report(id, "c", "cancelled")],
        [applied, applied, applied]
      )
      assert.deepStrictEqual(yield* sweep(store, { pendingAgeMs: 0 }), { reconcile: { [id]: ["d"] }, cascade: {} })
    }))

  test("rows of a parent that is not in waiting-children are not given to reconcile", (store) =>
    Effect.gen(function* () {
      const cancelled = yield* addParent(store, ["a"])
      yield* store.cancel(cancelled.id)
      const failed = yield* addParent(store, ["a", "b"], { failFast: true })
      yield* records(store, [report(failed.id, "a", "failed")], [settled])
      const collecting = yield* addParent(store, ["a"])
      yield* records(store, [report(collecting.id, "a", "completed")], [settled])
      assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: 0 })).reconcile, {})
    }))

  test("rows of several flows are grouped by flow", (store) =>
    Effect.gen(function* () {
      const one = yield* addParent(store, ["a", "b"])
      const other = yield* addParent(store, ["a"])
      assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: 0 })).reconcile, {
        [one.id]: ["a", "b"],
        [other.id]: ["a"]
      })
    }))

  test("with pendingAgeMs of 0 every pending row is given, each time", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      for (let round = 0; round < 2; round++) {
        assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: 0 })).reconcile, { [id]: ["a"] })
      }
    }))
}

const cascade = (test: Kit.Test) => {
  test("a cancelled row is given, with where its child is, until it is marked", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"])
      yield* store.cancel(id)
      for (let round = 0; round < 2; round++) {
        const work = yield* store.flowSweepWork({ pendingAgeMs: minute })
        assert.deepStrictEqual(work.reconcile, [])
        assert.lengthOf(work.cascade, 1)
        assert.strictEqual(work.cascade[0]?.flowId, id)
        assert.sameDeepMembers(
          [...(work.cascade[0]?.children ?? [])],
          ["a", "b"].map((key) => ({ childKey: key, storeKey: childStore, childJobId: childId(id, key) }))
        )
      }
      yield* store.markChildrenCascaded(id, ["b"])
      assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: 0 })).cascade, { [id]: ["a"] })
      yield* areRows(store, id, [owed(id, "a"), row(id, "b", { status: "cancelled", cascaded: true })])
      yield* store.markChildrenCascaded(id, ["a"])
      assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: 0 })).cascade, {})
    }))

  test("cascades are owed whatever the parent's state is: failed, waiting again, active, completed", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"], { failFast: true })
      yield* records(store, [report(id, "a", "failed")], [settled])
      const owes = Effect.gen(function* () {
        assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: 0 })).cascade, { [id]: ["b"] })
      })
      yield* owes
      yield* store.retry(id)
      yield* owes
      const { token } = yield* Kit.take(store)
      yield* owes
      yield* store.ack(id, token, Kit.complete())
      yield* owes
      yield* store.markChildrenCascaded(id, ["b"])
      assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: 0 })).cascade, {})
    }))

  test("a child that was reported cancelled owes no cascade", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      yield* records(store, [report(id, "a", "cancelled")], [settled])
      assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: 0 })).cascade, {})
    }))

  test("rows of several flows are grouped by flow, and limited together", (store) =>
    Effect.gen(function* () {
      const parents = yield* Effect.forEach(["p", "q"], (id) => addParent(store, ["a", "b"], { fields: { id } }))
      for (const { id } of parents) yield* store.cancel(id)
      assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: 0 })).cascade, { p: ["a", "b"], q: ["a", "b"] })
      const work = yield* store.flowSweepWork({ pendingAgeMs: 0, limit: 3 })
      assert.lengthOf(
        work.cascade.flatMap((group) => group.children),
        3
      )
    }))

  test("marking every page leads to the end", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b", "c", "d", "e"])
      yield* store.cancel(id)
      const seen: Array<string> = []
      for (const expected of [2, 2, 1, 0]) {
        const keys = (yield* sweep(store, { pendingAgeMs: 0, limit: 2 })).cascade[id] ?? []
        assert.lengthOf(keys, expected)
        seen.push(...keys)
        yield* store.markChildrenCascaded(id, keys)
      }
      assert.sameMembers(seen, ["a", "b", "c", "d", "e"])
    }))

  test("markChildrenCascaded is idempotent, and ignores unknown flows and keys", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"])
      yield* store.cancel(id)
      yield* store.markChildrenCascaded(id, ["a", "unknown", "a"])
      yield* store.markChildrenCascaded(id, ["a"])
      yield* store.markChildrenCascaded(id, [])
      yield* store.markChildrenCascaded("unknown", ["a", "b"])
      yield* areRows(store, id, [row(id, "a", { status: "cancelled", cascaded: true }), owed(id, "b")])
    }))
}

const limits = (test: Kit.Test) => {
  test("limit bounds the rows of each kind on its own", (store) =>
    Effect.gen(function* () {
      const open = yield* addParent(store, ["a", "b", "c"])
      const gone = yield* addParent(store, ["a", "b", "c"])
      yield* store.cancel(gone.id)
      const { cascade, reconcile } = yield* sweep(store, { pendingAgeMs: 0, limit: 2 })
      assert.lengthOf(reconcile[open.id] ?? [], 2)
      assert.lengthOf(cascade[gone.id] ?? [], 2)
    }))

  test("limit is 1000 of each kind unless given, and never more", (store) =>
    Effect.gen(function* () {
      const keys = Array.from({ length: 1001 }, (_, index) => `key-${index}`)
      const open = yield* addParent(store, keys)
      const gone = yield* addParent(store, keys)
      yield* store.cancel(gone.id)
      for (const limit of [undefined, 5000]) {
        const work = yield* store.flowSweepWork({ pendingAgeMs: 0, limit })
        assert.strictEqual(work.reconcile[0]?.flowId, open.id)
        assert.lengthOf(work.reconcile[0]?.children ?? [], 1000)
        assert.lengthOf(work.cascade[0]?.children ?? [], 1000)
      }
    }))

  test("a limit that is not a whole number from 1 is refused, and no age starts anew", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      yield* Kit.pass(minute)
      for (const limit of [0, -1, 0.5, Number.NaN]) {
        const call = store.flowSweepWork({ pendingAgeMs: minute, limit })
        assert.strictEqual((yield* Kit.refusedFor(call, "InvalidArgument")).field, "options.limit")
      }
      assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: minute })).reconcile, { [id]: ["a"] })
    }))

  test("requests to reconcile end before they pass the documented number of bytes, and the rest comes next", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store)
      const payload = "x".repeat(Limits.defaults.payloadBytes - 2)
      const keys = ["a", "b", "c", "d", "e", "f"]
      yield* store.ack(id, token, fanOut(keys.map((key) => child(id, key, { payload }))))
      yield* Kit.pass(minute)
      const seen: Array<string> = []
      for (let page = 0; page < 6 && seen.length < 6; page++) {
        const { reconcile } = yield* store.flowSweepWork({ pendingAgeMs: minute })
        const children = reconcile.flatMap((group) => group.children)
        const bytes = children.reduce((sum, each) => sum + Json.byteLength(each.request.payload), 0)
        assert.isAtMost(bytes, Limits.defaults.pageBytes)
        seen.push(...children.map((each) => each.childKey))
      }
      assert.sameMembers(seen, keys)
    }))
}

export const flowSweep = (test: Kit.Test) => {
  describe("flow sweep: reconcile", () => {
    reconcile(test)
  })
  describe("flow sweep: cascade", () => {
    cascade(test)
  })
  describe("flow sweep: limits", () => {
    limits(test)
  })
}
