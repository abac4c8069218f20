/** Reports of how children ended: which apply, what they count, and which one settles the parent. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { TerminalState } from "../Job.ts"
import { addParent, applied, areRows, flow, ignored, isParent, records, report, row, settled } from "./flowKit.ts"
import * as Kit from "./kit.ts"

const single = (test: Kit.Test) => {
  for (const outcome of ["completed", "failed", "cancelled"] as const) {
    test(`a report of ${outcome} writes the row and moves one from pending to that counter`, (store) =>
      Effect.gen(function* () {
        const { id } = yield* addParent(store, ["a", "b"])
        const given = report(id, "a", outcome, { exit: { of: outcome }, failedReason: "why" })
        yield* records(store, [given], [applied])
        yield* areRows(store, id, [
          row(id, "a", { status: outcome, exit: { of: outcome }, failedReason: "why", cascaded: true }),
          row(id, "b")
        ])
        yield* isParent(store, id, "waiting-children", flow({ pending: 1, [outcome]: 1 }))
      }))
  }

  test("an exit that is absent stays absent, and null stays null", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b", "c"])
      const reports = [report(id, "a", "completed", { exit: undefined }), report(id, "b", "completed", { exit: null })]
      yield* records(store, reports, [applied, applied])
      const { items } = yield* store.listChildResults(id)
      assert.deepStrictEqual(
        items.map((item) => item.exit),
        [undefined, null, undefined]
      )
    }))

  test("the report of the last pending child settles the parent: waiting now, to collect", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"])
      yield* records(store, [report(id, "b", "cancelled")], [applied])
      yield* Kit.takeNothing(store)
      yield* records(store, [report(id, "a", "completed")], [settled])
      yield* isParent(store, id, "waiting", flow({ completed: 1, cancelled: 1 }))
      const { job, token } = yield* Kit.take(store)
      assert.strictEqual(job.id, id)
      assert.deepStrictEqual(job.flow, flow({ completed: 1, cancelled: 1 }))
      yield* store.ack(id, token, Kit.complete("collected"))
      yield* Kit.isJob(store, id, {
        state: "completed",
        exit: "collected",
        attemptsMade: 1,
        flow: flow({ completed: 1, cancelled: 1 })
      })
    }))

  test("a settled parent goes to the back of the line", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"], { fields: { id: "parent" } })
      yield* Kit.addAll(store, ["x", "y"])
      yield* records(store, [report(id, "a", "completed")], [settled])
      yield* Kit.addAll(store, ["z"])
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["x", "y", "parent", "z"])
    }))

  test("a settled parent keeps its priority", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"], { fields: { id: "parent", priority: 5 } })
      yield* Kit.addAll(store, ["x"])
      yield* records(store, [report(id, "a", "completed")], [settled])
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["parent", "x"])
    }))

  test("the report that settles a parent wakes a taker of its queue", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      const { wakeToken } = yield* Kit.takeNothing(store)
      const parked = yield* Effect.forkChild(Kit.isWoken(store, [Kit.queue], wakeToken))
      yield* records(store, [report(id, "a", "completed")], [settled])
      yield* Fiber.join(parked)
    }))

  test("a failed child of a flow that is not fail-fast is counted and settles like any other", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"])
      yield* records(store, [report(id, "a", "failed")], [applied])
      yield* isParent(store, id, "waiting-children", flow({ pending: 1, failed: 1 }))
      yield* records(store, [report(id, "b", "failed")], [settled])
      yield* isParent(store, id, "waiting", flow({ failed: 2 }))
      yield* Kit.isJob(store, id, { failedReason: undefined })
    }))
}

const unapplied = (test: Kit.Test) => {
  test("a duplicate report is not applied: the first one stands", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"])
      yield* records(store, [report(id, "a", "completed")], [applied])
      yield* records(store, [report(id, "a", "completed")], [ignored])
      yield* records(store, [report(id, "a", "failed")], [ignored])
      yield* areRows(store, id, [row(id, "a", { status: "completed", exit: { sum: 3 }, cascaded: true }), row(id, "b")])
      yield* isParent(store, id, "waiting-children", flow({ pending: 1, completed: 1 }))
    }))

  test("a report after the parent has settled is not applied", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      yield* records(store, [report(id, "a", "completed")], [settled])
      yield* records(store, [report(id, "a", "completed")], [ignored])
      yield* isParent(store, id, "waiting", flow({ completed: 1 }))
    }))

  test("a report for an unknown flow, or an unknown child of one, is not applied", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      const plain = yield* Kit.add(store)
      yield* records(
        store,
        [report("unknown", "a", "completed"), report(id, "unknown", "completed"), report(plain, "a", "completed")],
        [ignored, ignored, ignored]
      )
      yield* isParent(store, id, "waiting-children", flow({ pending: 1 }))
      yield* Kit.isJob(store, plain, { state: "waiting", flow: undefined })
    }))

  test("a report for a parent that was removed is not applied", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      yield* store.cancel(id)
      assert.isTrue(yield* store.remove(id))
      yield* records(store, [report(id, "a", "completed")], [ignored])
      yield* Kit.isGone(store, id)
    }))
}

const batches = (test: Kit.Test) => {
  test("no reports, no answers", (store) => records(store, [], []))

  test("answers come by position, also when only some reports apply", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b", "c"])
      yield* records(
        store,
        [
          report(id, "b", "completed"),
          report("unknown", "b", "completed"),
          report(id, "b", "failed"),
          report(id, "a", "cancelled"),
          report(id, "unknown", "failed")
        ],
        [applied, ignored, ignored, applied, ignored]
      )
      yield* areRows(store, id, [
        row(id, "a", { status: "cancelled", cascaded: true }),
        row(id, "b", { status: "completed", exit: { sum: 3 }, cascaded: true }),
        row(id, "c")
      ])
      yield* isParent(store, id, "waiting-children", flow({ pending: 1, completed: 1, cancelled: 1 }))
    }))

  test("a batch that empties pending settles once, on its last applied report", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b", "c"])
      yield* records(
        store,
        [
          report(id, "c", "completed"),
          report(id, "a", "failed"),
          report(id, "b", "completed"),
          report(id, "b", "completed"),
          report(id, "unknown", "completed")
        ],
        [applied, applied, settled, ignored, ignored]
      )
      yield* isParent(store, id, "waiting", flow({ completed: 2, failed: 1 }))
      yield* Kit.isLedger(store, id, [Kit.run(1, "fanned-out")])
    }))

  test("a batch may span flows, and settles each on a report of its own", (store) =>
    Effect.gen(function* () {
      const one = yield* addParent(store, ["a", "b"])
      const two = yield* addParent(store, ["a"])
      const fast = yield* addParent(store, ["a", "b"], { failFast: true })
      const open = yield* addParent(store, ["a", "b"])
      yield* records(
        store,
        [
          report(two.id, "a", "completed"),
          report(one.id, "a", "completed"),
          report(fast.id, "b", "failed"),
          report(open.id, "b", "completed"),
          report(one.id, "b", "completed")
        ],
        [settled, applied, settled, applied, settled]
      )
      yield* isParent(store, one.id, "waiting", flow({ completed: 2 }))
      yield* isParent(store, two.id, "waiting", flow({ completed: 1 }))
      yield* isParent(store, fast.id, "failed", flow({ failFast: true, failed: 1, cancelled: 1 }))
      yield* isParent(store, open.id, "waiting-children", flow({ pending: 1, completed: 1 }))
    }))

  test("last reports that come at once settle the parent exactly once", (store) =>
    Effect.gen(function* () {
      const keys = ["a", "b", "c", "d", "e", "f"]
      const { id } = yield* addParent(store, keys)
      const answers = yield* Effect.forEach(
        [...keys, ...keys],
        (key) => store.recordChildResults([report(id, key, "completed")]),
        { concurrency: "unbounded" }
      )
      const flat = answers.flat()
      assert.lengthOf(
        flat.filter((answer) => answer.applied),
        6
      )
      assert.lengthOf(
        flat.filter((answer) => answer.parentSettled),
        1
      )
      yield* isParent(store, id, "waiting", flow({ completed: 6 }))
    }))

  test("batches over the same flows that come at once, in any order, are all applied", (store) =>
    Effect.gen(function* () {
      const parents = yield* Effect.forEach(["p", "q", "r"], (prefix) =>
        addParent(store, ["1", "2", "3", "4"], { fields: { id: prefix } })
      )
      const batch = (key: string, backwards: boolean) => {
        const reports = parents.map(({ id }) => report(id, key, "completed"))
        return store.recordChildResults(backwards ? reports.toReversed() : reports)
      }
      const answers = yield* Effect.forEach(["1", "2", "3", "4"], (key, index) => batch(key, index % 2 === 1), {
        concurrency: "unbounded"
      })
      assert.lengthOf(
        answers.flat().filter((answer) => answer.parentSettled),
        3
      )
      for (const { id } of parents) yield* isParent(store, id, "waiting", flow({ completed: 4 }))
    }))

  test("the four counters sum to the number of children after every report", (store) =>
    Effect.gen(function* () {
      const keys = ["a", "b", "c", "d", "e", "f", "g"]
      const { id } = yield* addParent(store, keys)
      const outcomes: ReadonlyArray<TerminalState> = ["completed", "failed", "cancelled"]
      for (const [index, key] of keys.entries()) {
        yield* store.recordChildResults([report(id, key, outcomes[index % 3] ?? "completed")])
        const { flow: counters } = yield* Kit.find(store, id)
        if (counters === undefined) return assert.fail("the parent has no flow")
        assert.strictEqual(counters.pending, keys.length - index - 1)
        assert.strictEqual(counters.pending + counters.completed + counters.failed + counters.cancelled, keys.length)
      }
      yield* isParent(store, id, "waiting", flow({ completed: 3, failed: 2, cancelled: 2 }))
    }))
}

export const flowReports = (test: Kit.Test) => {
  describe("flow: one report", () => {
    single(test)
  })
  describe("flow: reports that do not apply", () => {
    unapplied(test)
  })
  describe("flow: batches of reports", () => {
    batches(test)
  })
}
