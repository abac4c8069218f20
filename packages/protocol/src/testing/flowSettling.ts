/** How a flow ends before its last child: fail-fast and cancel; and a parent that runs again. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import {
  addParent,
  applied,
  areRows,
  childId,
  collect,
  flow,
  ignored,
  isParent,
  owed,
  records,
  report,
  row,
  settled,
  sweep
} from "./flowKit.ts"
import * as Kit from "./kit.ts"

const failedRow = (id: string, key: string) => row(id, key, { status: "failed", exit: { error: "no" }, cascaded: true })
const completedRow = (id: string, key: string) =>
  row(id, key, { status: "completed", exit: { sum: 3 }, cascaded: true })

const failFast = (test: Kit.Test) => {
  test("a failed child of a fail-fast flow fails the parent, without an exit", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b", "c"], { failFast: true })
      yield* records(store, [report(id, "a", "completed")], [applied])
      yield* Kit.pass(500)
      yield* records(store, [report(id, "b", "failed")], [settled])
      yield* Kit.isJob(store, id, {
        state: "failed",
        flow: flow({ failFast: true, completed: 1, failed: 1, cancelled: 1 }),
        exit: undefined,
        finishedAt: Kit.start + 500,
        attemptsMade: 0
      })
    }))

  test('failedReason names the child and says "<key>" failed', (store) =>
    Effect.gen(function* () {
      for (const key of ["a", "2025/06", 'with "quotes"', "\u{1f600}"]) {
        const { id } = yield* addParent(store, [key, "other"], { failFast: true })
        yield* records(store, [report(id, key, "failed")], [settled])
        const { failedReason } = yield* Kit.find(store, id)
        assert.include(failedReason, `"${key}" failed`)
      }
    }))

  test("the rows that were pending become cancelled and owe a cascade; the others stay", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b", "c", "d"], { failFast: true })
      yield* records(store, [report(id, "a", "completed")], [applied])
      yield* records(store, [report(id, "c", "failed")], [settled])
      yield* areRows(store, id, [completedRow(id, "a"), owed(id, "b"), failedRow(id, "c"), owed(id, "d")])
      assert.deepStrictEqual((yield* sweep(store, { pendingAgeMs: 0 })).cascade, { [id]: ["b", "d"] })
    }))

  test("reports for the rows that it cancelled come late", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"], { failFast: true })
      yield* records(store, [report(id, "a", "failed")], [settled])
      yield* records(store, [report(id, "b", "failed")], [ignored])
      yield* areRows(store, id, [failedRow(id, "a"), owed(id, "b")])
      yield* isParent(store, id, "failed", flow({ failFast: true, failed: 1, cancelled: 1 }))
    }))

  test("a cancelled child does not fail a fail-fast parent", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"], { failFast: true })
      yield* records(store, [report(id, "a", "cancelled")], [applied])
      yield* isParent(store, id, "waiting-children", flow({ failFast: true, pending: 1, cancelled: 1 }))
      yield* records(store, [report(id, "b", "completed")], [settled])
      yield* isParent(store, id, "waiting", flow({ failFast: true, completed: 1, cancelled: 1 }))
    }))

  test("fail-fast wins when the failed child is also the last pending one", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"], { failFast: true })
      yield* records(store, [report(id, "a", "completed")], [applied])
      yield* records(store, [report(id, "b", "failed")], [settled])
      yield* isParent(store, id, "failed", flow({ failFast: true, completed: 1, failed: 1 }))
      yield* Kit.takeNothing(store)
    }))

  test("in a batch all rows apply first, then the first failed report settles", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b", "c", "d", "e"], { failFast: true })
      yield* records(
        store,
        [
          report(id, "d", "completed"),
          report(id, "c", "failed"),
          report(id, "b", "failed"),
          report(id, "a", "completed"),
          report(id, "c", "completed")
        ],
        [applied, settled, applied, applied, ignored]
      )
      yield* areRows(store, id, [
        completedRow(id, "a"),
        failedRow(id, "b"),
        failedRow(id, "c"),
        completedRow(id, "d"),
        owed(id, "e")
      ])
      yield* isParent(store, id, "failed", flow({ failFast: true, completed: 2, failed: 2, cancelled: 1 }))
      assert.include((yield* Kit.find(store, id)).failedReason, '"c" failed')
    }))

  test("in a batch that empties pending, fail-fast wins and the parent does not collect", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"], { failFast: true })
      yield* records(store, [report(id, "a", "failed"), report(id, "b", "completed")], [settled, applied])
      yield* isParent(store, id, "failed", flow({ failFast: true, completed: 1, failed: 1 }))
      yield* Kit.takeNothing(store)
      yield* areRows(store, id, [failedRow(id, "a"), completedRow(id, "b")])
    }))

  test("a failed report that does not apply fails no parent", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"], { failFast: true })
      yield* records(store, [report(id, "a", "completed")], [applied])
      yield* records(store, [report(id, "a", "failed"), report(id, "unknown", "failed")], [ignored, ignored])
      yield* isParent(store, id, "waiting-children", flow({ failFast: true, pending: 1, completed: 1 }))
    }))

  test("a fail-fast settle frees the parent's dedupe key", (store) =>
    Effect.gen(function* () {
      const dedupe = { key: "k", ttlMs: undefined, extend: false, replace: false }
      const { id } = yield* addParent(store, ["a"], { failFast: true, fields: { dedupe } })
      assert.deepStrictEqual(yield* store.enqueue(Kit.request({ dedupe })), { id, duplicate: true })
      yield* records(store, [report(id, "a", "failed")], [settled])
      assert.isFalse((yield* store.enqueue(Kit.request({ dedupe }))).duplicate)
    }))
}

const cancels = (test: Kit.Test) => {
  test("cancel of a parked parent cancels it at once, and its pending rows owe a cascade", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b", "c"])
      yield* records(store, [report(id, "b", "completed")], [applied])
      yield* Kit.pass(250)
      yield* store.cancel(id)
      yield* Kit.isJob(store, id, {
        state: "cancelled",
        flow: flow({ completed: 1, cancelled: 2 }),
        finishedAt: Kit.start + 250,
        exit: undefined,
        attemptsMade: 0
      })
      yield* areRows(store, id, [owed(id, "a"), completedRow(id, "b"), owed(id, "c")])
      const [first, second, ...rest] = yield* store.getAttempts(id)
      assert.deepStrictEqual(first, Kit.run(1, "fanned-out"))
      assert.deepInclude(second, { attempt: 2, outcome: "cancelled", finishedAt: Kit.start + 250, exit: undefined })
      assert.isEmpty(rest)
    }))

  test("children that were cancelled before and rows that the cancel takes are counted together", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b", "c"])
      yield* records(store, [report(id, "a", "cancelled")], [applied])
      yield* store.cancel(id)
      yield* isParent(store, id, "cancelled", flow({ cancelled: 3 }))
    }))

  test("reports after a cancel of the parent come late", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      yield* store.cancel(id)
      yield* records(store, [report(id, "a", "failed")], [ignored])
      yield* areRows(store, id, [owed(id, "a")])
      yield* isParent(store, id, "cancelled", flow({ cancelled: 1 }))
    }))

  test("cancelByDedupe cancels a parked parent", (store) =>
    Effect.gen(function* () {
      const dedupe = { key: "k", ttlMs: undefined, extend: false, replace: false }
      const { id } = yield* addParent(store, ["a"], { fields: { dedupe } })
      assert.isTrue(yield* store.cancelByDedupe(Kit.name, "k"))
      yield* isParent(store, id, "cancelled", flow({ cancelled: 1 }))
      yield* areRows(store, id, [owed(id, "a")])
      assert.isFalse(yield* store.cancelByDedupe(Kit.name, "k"))
    }))

  test("cancel of a settled parent that waits to collect leaves its rows as they are", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      yield* records(store, [report(id, "a", "completed")], [settled])
      yield* store.cancel(id)
      yield* isParent(store, id, "cancelled", flow({ completed: 1 }))
      yield* areRows(store, id, [completedRow(id, "a")])
      assert.deepStrictEqual(yield* sweep(store, { pendingAgeMs: 0 }), { reconcile: {}, cascade: {} })
    }))
}

const again = (test: Kit.Test) => {
  test("retry of a parent that failed fast goes to collect, with flow and rows as they were", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"], { failFast: true })
      yield* records(store, [report(id, "a", "failed")], [settled])
      const rows = [failedRow(id, "a"), owed(id, "b")]
      yield* store.retry(id)
      yield* Kit.isJob(store, id, {
        state: "waiting",
        flow: flow({ failFast: true, failed: 1, cancelled: 1 }),
        failedReason: undefined,
        finishedAt: undefined
      })
      yield* areRows(store, id, rows)
      const job = yield* collect(store, id)
      assert.deepStrictEqual(job.flow, flow({ failFast: true, failed: 1, cancelled: 1 }))
      yield* areRows(store, id, rows)
    }))

  test("a collecting run that fails or stalls runs again and collects again", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"], { fields: { attemptsMax: 3 } })
      yield* records(store, [report(id, "a", "completed")], [settled])
      const first = yield* Kit.take(store)
      yield* store.ack(id, first.token, Kit.again())
      yield* isParent(store, id, "waiting", flow({ completed: 1 }))
      yield* Kit.take(store, { lockDurationMs: 0 })
      yield* store.recoverStalled({ maxStalledCount: 1 })
      const job = yield* collect(store, id)
      assert.deepStrictEqual(job.flow, flow({ completed: 1 }))
      assert.strictEqual(job.attemptsMade, 1)
      yield* areRows(store, id, [completedRow(id, "a")])
    }))

  test("a child job that exists in the same store is a job of its own", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      const { reconcile } = yield* store.flowSweepWork({ pendingAgeMs: 0 })
      const request = reconcile[0]?.children[0]?.request
      if (request === undefined) return assert.fail("the sweep gave no child")
      yield* store.enqueue(request)
      yield* store.cancel(id)
      yield* Kit.areStates(store, { [id]: "cancelled", [childId(id, "a")]: "waiting" })
    }))
}

export const flowSettling = (test: Kit.Test) => {
  describe("flow: fail-fast", () => {
    failFast(test)
  })
  describe("flow: cancel of a parent", () => {
    cancels(test)
  })
  describe("flow: a parent that runs again", () => {
    again(test)
  })
}
