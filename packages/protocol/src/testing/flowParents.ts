/** Parents among other jobs: nested flows, removal and retention. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { KeepPolicy } from "../Policy.ts"
import {
  addParent,
  applied,
  areRows,
  child,
  collect,
  fanOut,
  flow,
  ignored,
  isParent,
  owed,
  parentLink,
  records,
  report,
  settled,
  sweep
} from "./flowKit.ts"
import * as Kit from "./kit.ts"

const nested = (test: Kit.Test) => {
  test("a child may be a parent itself: each level settles on its own", (store) =>
    Effect.gen(function* () {
      const top = yield* addParent(store, ["m"], { fields: { id: "top" } })
      const link = parentLink(top.id, "m")
      const middle = yield* addParent(store, ["x", "y"], { fields: { id: "middle", parent: link } })
      yield* Kit.isJob(store, middle.id, { parent: link, flow: flow({ pending: 2 }) })
      yield* records(
        store,
        [report(middle.id, "x", "completed"), report(middle.id, "y", "completed")],
        [applied, settled]
      )
      yield* isParent(store, middle.id, "waiting", flow({ completed: 2 }))
      yield* isParent(store, top.id, "waiting-children", flow({ pending: 1 }))

      yield* collect(store, middle.id, "middle done")
      const [entry, ...rest] = yield* store.peekOutbox({ limit: 10 })
      assert.isEmpty(rest)
      if (entry === undefined) return assert.fail("the nested parent reported nothing")
      assert.deepStrictEqual(yield* store.recordChildResults([entry.report]), [settled])
      yield* isParent(store, top.id, "waiting", flow({ completed: 1 }))
      yield* collect(store, top.id, "top done")
      yield* Kit.areStates(store, { top: "completed", middle: "completed" })
    }))

  test("a nested parent keeps the depth of its link, and its children have theirs", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, { parent: parentLink("top", "m", { depth: 4 }) })
      const grandchild = child(held.id, "a", { parent: parentLink(held.id, "a", { depth: 5 }) })
      yield* store.ack(held.id, held.token, fanOut([grandchild]))
      yield* Kit.isJob(store, held.id, { parent: parentLink("top", "m", { depth: 4 }) })
      const { reconcile } = yield* store.flowSweepWork({ pendingAgeMs: 0 })
      assert.strictEqual(reconcile[0]?.children[0]?.request.parent?.depth, 5)
    }))

  test("a fail-fast settle of a nested parent does not touch the parent above until it is reported", (store) =>
    Effect.gen(function* () {
      const top = yield* addParent(store, ["m", "n"], { failFast: true, fields: { id: "top" } })
      const parent = parentLink(top.id, "m")
      const middle = yield* addParent(store, ["x"], { failFast: true, fields: { id: "middle", parent } })
      yield* records(store, [report(middle.id, "x", "failed")], [settled])
      yield* isParent(store, top.id, "waiting-children", flow({ failFast: true, pending: 2 }))
      const [entry] = yield* store.peekOutbox({ limit: 10 })
      if (entry === undefined) return assert.fail("the nested parent reported nothing")
      yield* records(store, [entry.report], [settled])
      yield* isParent(store, top.id, "failed", flow({ failFast: true, failed: 1, cancelled: 1 }))
      yield* areRowStatuses(store, top.id, { m: "failed", n: "cancelled" })
    }))
}

const areRowStatuses = Effect.fnUntraced(function* (
  store: Kit.Store,
  flowId: string,
  expected: Readonly<Record<string, string>>
) {
  const { items } = yield* store.listChildResults(flowId)
  assert.deepStrictEqual(Object.fromEntries(items.map((item) => [item.childKey, item.status])), expected)
})

const removal = (test: Kit.Test) => {
  test("remove of a settled parent takes its ledger and its rows with it", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      const other = yield* addParent(store, ["a"])
      yield* records(store, [report(id, "a", "completed")], [settled])
      yield* collect(store, id)
      assert.isTrue(yield* store.remove(id))
      yield* Kit.isGone(store, id)
      yield* Kit.isLedger(store, id, [])
      yield* areRows(store, id, [])
      yield* areRowStatuses(store, other.id, { a: "pending" })
    }))

  test("remove takes a parent that still owes cascades too, and then owes none", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      yield* store.cancel(id)
      yield* areRows(store, id, [owed(id, "a")])
      assert.isTrue(yield* store.remove(id))
      yield* areRows(store, id, [])
      assert.deepStrictEqual(yield* sweep(store, { pendingAgeMs: 0 }), { reconcile: {}, cascade: {} })
    }))

  test("a new job under the id of a removed parent has no flow, and fans out as new", (store) =>
    Effect.gen(function* () {
      yield* addParent(store, ["a", "b"], { fields: { id: "parent" } })
      yield* store.cancel("parent")
      yield* store.remove("parent")
      yield* addParent(store, ["c"], { fields: { id: "parent" } })
      yield* isParent(store, "parent", "waiting-children", flow({ pending: 1 }))
      yield* areRowStatuses(store, "parent", { c: "pending" })
      yield* records(store, [report("parent", "a", "completed")], [ignored])
    }))
}

const everywhere = (rule: { count?: number; ageMs?: number }): KeepPolicy => {
  const full = { count: rule.count, ageMs: rule.ageMs }
  return { completed: full, failed: full, cancelled: full }
}

/** A cancelled parent, that owes one cascade. */
const addOwing = Effect.fnUntraced(function* (store: Kit.Store, id: string, keep: KeepPolicy) {
  yield* addParent(store, ["a"], { fields: { id, keep } })
  yield* store.cancel(id)
})

const retention = (test: Kit.Test) => {
  test("keep by count spares a settled parent that owes cascades, and takes it once they are marked", (store) =>
    Effect.gen(function* () {
      const keep = everywhere({ count: 0 })
      yield* addOwing(store, "owing", keep)
      yield* Kit.areStates(store, { owing: "cancelled" })
      yield* addOwing(store, "later", keep)
      yield* Kit.areStates(store, { owing: "cancelled", later: "cancelled" })
      yield* store.markChildrenCascaded("owing", ["a"])
      yield* Kit.addFinished(store, "cancelled", { id: "trigger", keep })
      yield* Kit.areStates(store, { owing: "gone", later: "cancelled", trigger: "gone" })
      yield* areRows(store, "owing", [])
    }))

  test("keep by age spares a settled parent that owes cascades, and takes it once they are marked", (store) =>
    Effect.gen(function* () {
      const keep = everywhere({ ageMs: 1000 })
      yield* addOwing(store, "owing", keep)
      yield* Kit.pass(5000)
      yield* Kit.addFinished(store, "cancelled", { id: "first", keep })
      yield* Kit.areStates(store, { owing: "cancelled", first: "cancelled" })
      yield* store.markChildrenCascaded("owing", ["a"])
      yield* Kit.addFinished(store, "cancelled", { id: "second", keep })
      yield* Kit.areStates(store, { owing: "gone", first: "cancelled", second: "cancelled" })
    }))

  test("a parent that is spared counts among the newest all the same", (store) =>
    Effect.gen(function* () {
      const keep = everywhere({ count: 1 })
      yield* Kit.addFinished(store, "cancelled", { id: "old", keep })
      yield* Kit.pass(1)
      yield* addOwing(store, "owing", keep)
      yield* Kit.areStates(store, { old: "gone", owing: "cancelled" })
      yield* Kit.pass(1)
      yield* Kit.addFinished(store, "cancelled", { id: "new", keep })
      yield* Kit.areStates(store, { owing: "cancelled", new: "cancelled" })
    }))

  test("keep applies to a parent that a fail-fast settle has failed, as soon as it owes nothing", (store) =>
    Effect.gen(function* () {
      const keep = everywhere({ count: 0 })
      yield* addParent(store, ["a", "b"], { failFast: true, fields: { id: "owing", keep } })
      yield* records(store, [report("owing", "a", "failed")], [settled])
      yield* Kit.areStates(store, { owing: "failed" })
      yield* addParent(store, ["a"], { failFast: true, fields: { id: "clean", keep } })
      yield* records(store, [report("clean", "a", "failed")], [settled])
      yield* Kit.areStates(store, { owing: "failed", clean: "gone" })
      yield* areRows(store, "clean", [])
    }))

  test("keep takes a parent whose children have all reported, with its rows", (store) =>
    Effect.gen(function* () {
      const keep = everywhere({ count: 0 })
      yield* addParent(store, ["a"], { fields: { id: "parent", keep } })
      yield* records(store, [report("parent", "a", "cancelled")], [settled])
      yield* collect(store, "parent")
      yield* Kit.isGone(store, "parent")
      yield* areRows(store, "parent", [])
    }))
}

export const flowParents = (test: Kit.Test) => {
  describe("flow: nested parents", () => {
    nested(test)
  })
  describe("flow: remove", () => {
    removal(test)
  })
  describe("flow: retention", () => {
    retention(test)
  })
}
