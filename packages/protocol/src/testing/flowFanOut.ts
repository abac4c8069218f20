/** A parent fans out: what is written, what is refused, and what a cancel on the way does. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  addParent,
  applied,
  areRows,
  child,
  childId,
  childName,
  collect,
  fanOut,
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

const parking = (test: Kit.Test) => {
  test("FanOut parks the parent in waiting-children with its counters", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b", "c"])
      yield* Kit.isJob(store, id, {
        state: "waiting-children",
        flow: flow({ pending: 3 }),
        cancelRequested: false,
        finishedAt: undefined,
        exit: undefined,
        failedReason: undefined
      })
    }))

  test("FanOut spends no attempt and writes one ledger entry, fanned-out", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store, { attemptsMax: 1 })
      yield* Kit.pass(300)
      yield* store.ack(id, token, fanOut([child(id, "a")]))
      yield* Kit.isJob(store, id, { attemptsMade: 0 })
      yield* Kit.isLedger(store, id, [Kit.run(1, "fanned-out", { finishedAt: Kit.start + 300 })])
    }))

  test("FanOut keeps the policy of the flow", (store) =>
    Effect.gen(function* () {
      const fast = yield* addParent(store, ["a"], { failFast: true })
      yield* isParent(store, fast.id, "waiting-children", flow({ failFast: true, pending: 1 }))
      const slow = yield* addParent(store, ["a"], { failFast: false })
      yield* isParent(store, slow.id, "waiting-children", flow({ failFast: false, pending: 1 }))
    }))

  test("FanOut writes one dependency row a child", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store)
      const children = [
        child(id, "b", { id: "any id", name: "other" }),
        { ...child(id, "a"), storeKey: "elsewhere" },
        child(id, "c", { parent: undefined })
      ]
      yield* store.ack(id, token, fanOut(children))
      yield* areRows(store, id, [
        row(id, "a", { storeKey: "elsewhere" }),
        row(id, "b", { childJobId: "any id", name: "other" }),
        row(id, "c")
      ])
    }))

  test("FanOut enqueues no child", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      yield* Kit.isGone(store, childId(id, "a"))
      yield* Kit.takeNothing(store, { names: [Kit.name, childName] })
      assert.lengthOf((yield* store.list({})).items, 1)
    }))

  test("FanOut clears the lock", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* addParent(store, ["a"])
      yield* Kit.failsWith(store.release(id, token), "LockLostError")
      assert.deepStrictEqual(yield* store.extendLocks([{ id, token }], 1000), { lost: [id], cancelRequested: [] })
      yield* Kit.pass(60_000)
      assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 0 }), [])
      yield* Kit.isJob(store, id, { state: "waiting-children" })
    }))

  test("a parked parent is not claimed, promoted, retried or removed", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      yield* Kit.pass(3_600_000)
      const { nextRunAt } = yield* Kit.takeNothing(store)
      assert.isUndefined(nextRunAt)
      assert.strictEqual((yield* Kit.failsWith(store.promote(id), "JobNotPromotableError")).state, "waiting-children")
      assert.strictEqual((yield* Kit.failsWith(store.retry(id), "JobNotRetryableError")).state, "waiting-children")
      assert.isFalse(yield* store.remove(id))
      yield* isParent(store, id, "waiting-children", flow({ pending: 1 }))
      yield* areRows(store, id, [row(id, "a")])
    }))

  test("a flow may have more children than a page of them has rows", (store) =>
    Effect.gen(function* () {
      const keys = Array.from({ length: 1001 }, (_, index) => `key-${String(index).padStart(4, "0")}`)
      const { id } = yield* addParent(store, keys)
      yield* isParent(store, id, "waiting-children", flow({ pending: 1001 }))
      yield* store.cancel(id)
      yield* isParent(store, id, "cancelled", flow({ cancelled: 1001 }))
    }))

  test("the rows of two flows with the same child keys are apart", (store) =>
    Effect.gen(function* () {
      const one = yield* addParent(store, ["a", "b"])
      const other = yield* addParent(store, ["a"])
      yield* records(store, [report(one.id, "a", "completed")], [applied])
      yield* areRows(store, other.id, [row(other.id, "a")])
      yield* isParent(store, other.id, "waiting-children", flow({ pending: 1 }))
    }))
}

const empty = (test: Kit.Test) => {
  test("FanOut without children goes straight to waiting, with counters of 0", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, [])
      yield* Kit.isJob(store, id, { state: "waiting", flow: flow(), attemptsMade: 0, finishedAt: undefined })
      yield* areRows(store, id, [])
      yield* Kit.isLedger(store, id, [Kit.run(1, "fanned-out")])
      const job = yield* collect(store, id)
      assert.deepStrictEqual(job.flow, flow())
      yield* Kit.isJob(store, id, { state: "completed", attemptsMade: 1 })
    }))

  test("FanOut without children puts the parent at the back of the line", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store, { id: "parent" })
      yield* Kit.addAll(store, ["x", "y"])
      yield* store.ack(id, token, fanOut([]))
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["x", "y", "parent"])
    }))

  test("FanOut without children wakes a taker of the parent's queue", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store)
      const { wakeToken } = yield* Kit.takeNothing(store)
      const parked = yield* Effect.forkChild(Kit.isWoken(store, [Kit.queue], wakeToken))
      yield* store.ack(id, token, fanOut([]))
      yield* Fiber.join(parked)
    }))
}

/** Asserts that the job is as it was claimed, and that its token still settles it. */
const isStillHeld = Effect.fnUntraced(function* (store: Kit.Store, { id, job, token }: Kit.Held) {
  assert.deepStrictEqual(yield* Kit.find(store, id), job)
  yield* Kit.isLedger(store, id, [])
  yield* areRows(store, id, [])
  assert.deepStrictEqual(yield* sweep(store, { pendingAgeMs: 0 }), { reconcile: {}, cascade: {} })
  yield* store.ack(id, token, fanOut([child(id, "a")]))
  yield* areRows(store, id, [row(id, "a")])
})

const refusals = (test: Kit.Test) => {
  test("a child without an id is refused, and the job is still active", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      const children = [child(held.id, "a"), child(held.id, "b", { id: undefined })]
      const { field } = yield* Kit.refusedFor(store.ack(held.id, held.token, fanOut(children)), "InvalidArgument")
      assert.strictEqual(field, "outcome.children[1].request.id")
      yield* isStillHeld(store, held)
    }))

  test("two children with one key are refused, and the job is still active", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      const children = [child(held.id, "a"), child(held.id, "b"), child(held.id, "a", { id: "another" })]
      const { field } = yield* Kit.refusedFor(store.ack(held.id, held.token, fanOut(children)), "InvalidArgument")
      assert.strictEqual(field, "outcome.children[2].childKey")
      yield* isStillHeld(store, held)
    }))

  test("keys that differ in case or in normal form are two keys", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "A", "\u00e9", "e\u0301"])
      yield* isParent(store, id, "waiting-children", flow({ pending: 4 }))
    }))

  test("FanOut with a token that does not hold the job is LockLostError, and writes nothing", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      const outcome = fanOut([child(held.id, "a")])
      const error = yield* Kit.failsWith(store.ack(held.id, "another", outcome), "LockLostError")
      assert.strictEqual(error.jobId, held.id)
      yield* isStillHeld(store, held)
    }))

  test("FanOut of an unknown job is JobNotFoundError, and writes nothing", (store) =>
    Effect.gen(function* () {
      yield* Kit.failsWith(store.ack("unknown", "token", fanOut([child("unknown", "a")])), "JobNotFoundError")
      yield* areRows(store, "unknown", [])
    }))
}

const repeats = (test: Kit.Test) => {
  test("a second FanOut keeps the rows, ignores the new children, and follows the pending count", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"])
      yield* records(store, [report(id, "a", "completed"), report(id, "b", "failed")], [applied, settled])
      const held = yield* Kit.take(store)
      yield* store.ack(id, held.token, fanOut([child(id, "c"), child(id, "d")], true))
      yield* isParent(store, id, "waiting", flow({ completed: 1, failed: 1 }))
      yield* areRows(store, id, [
        row(id, "a", { status: "completed", exit: { sum: 3 }, cascaded: true }),
        row(id, "b", { status: "failed", exit: { error: "no" }, cascaded: true })
      ])
      yield* Kit.isLedger(store, id, [Kit.run(1, "fanned-out"), Kit.run(2, "fanned-out")])
      yield* collect(store, id)
    }))

  test("a second FanOut of a flow without children goes straight to waiting again", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, [])
      const held = yield* Kit.take(store)
      yield* store.ack(id, held.token, fanOut([child(id, "late")]))
      yield* isParent(store, id, "waiting", flow())
      yield* areRows(store, id, [])
    }))

  test("a FanOut delivered again is a success that changes nothing", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* addParent(store, ["a", "b"])
      yield* store.ack(id, token, fanOut([child(id, "a"), child(id, "b")]))
      yield* isParent(store, id, "waiting-children", flow({ pending: 2 }))
      yield* Kit.isLedger(store, id, [Kit.run(1, "fanned-out")])
      yield* records(store, [report(id, "a", "completed"), report(id, "b", "completed")], [applied, settled])
      yield* store.ack(id, token, fanOut([child(id, "a"), child(id, "b")]))
      yield* isParent(store, id, "waiting", flow({ completed: 2 }))
      yield* Kit.isLedger(store, id, [Kit.run(1, "fanned-out")])
    }))
}

const cancels = (test: Kit.Test) => {
  test("a cancel that was requested before the FanOut wins: cancelled, and every row owes a cascade", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store)
      yield* store.cancel(id)
      yield* Kit.pass(100)
      yield* store.ack(id, token, fanOut([child(id, "a"), child(id, "b")]))
      yield* Kit.isJob(store, id, {
        state: "cancelled",
        flow: flow({ cancelled: 2 }),
        attemptsMade: 0,
        cancelRequested: false,
        finishedAt: Kit.start + 100
      })
      yield* areRows(store, id, [owed(id, "a"), owed(id, "b")])
      assert.deepStrictEqual(yield* sweep(store, { pendingAgeMs: 0 }), { reconcile: {}, cascade: { [id]: ["a", "b"] } })
    }))

  test("a FanOut that a cancel overtook writes one ledger entry, cancelled", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store)
      yield* store.cancel(id)
      yield* store.ack(id, token, fanOut([child(id, "a")]))
      yield* Kit.isLedger(store, id, [Kit.run(1, "cancelled")])
    }))

  test("a FanOut without children that a cancel overtook is cancelled", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store)
      yield* store.cancel(id)
      yield* store.ack(id, token, fanOut([]))
      yield* isParent(store, id, "cancelled", flow())
      yield* Kit.takeNothing(store)
    }))

  test("reports for rows that a cancel of the parent has marked come late", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store)
      yield* store.cancel(id)
      yield* store.ack(id, token, fanOut([child(id, "a")]))
      yield* records(store, [report(id, "a", "completed")], [ignored])
      yield* areRows(store, id, [owed(id, "a")])
      yield* isParent(store, id, "cancelled", flow({ cancelled: 1 }))
    }))
}

export const flowFanOut = (test: Kit.Test) => {
  describe("flow: FanOut", () => {
    parking(test)
  })
  describe("flow: FanOut without children", () => {
    empty(test)
  })
  describe("flow: FanOut refused", () => {
    refusals(test)
  })
  describe("flow: FanOut again", () => {
    repeats(test)
  })
  describe("flow: FanOut and cancel", () => {
    cancels(test)
  })
}
