/** `keep`: what a job lets go of when it becomes terminal. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { TerminalState } from "../Job.ts"
import type { KeepPolicy, KeepRule } from "../Policy.ts"
import * as Flow from "./flowKit.ts"
import * as Kit from "./kit.ts"

/** A rule for one state; the others keep all. */
const keep = (state: TerminalState, rule: Partial<KeepRule>): { readonly keep: KeepPolicy } => ({
  keep: {
    completed: undefined,
    failed: undefined,
    cancelled: undefined,
    [state]: { count: undefined, ageMs: undefined, ...rule }
  }
})

const terminal = ["completed", "failed", "cancelled"] as const

const counted = (test: Kit.Test) => {
  for (const state of terminal) {
    test(`at most count ${state} jobs of the name are kept, the newest finished`, (store) =>
      Effect.gen(function* () {
        for (const id of ["a", "b", "c", "d"]) {
          yield* Kit.addFinished(store, state, { id, ...keep(state, { count: 2 }) })
          yield* Kit.pass(1)
        }
        yield* Kit.areStates(store, { a: "gone", b: "gone", c: state, d: state })
        assert.strictEqual((yield* store.counts())[state], 2)
        yield* Kit.isLedger(store, "a", [])
      }))
  }

  test("newest goes by the end, not by the enqueue", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c"], keep("completed", { count: 2 }))
      const [a, b, c] = [yield* Kit.take(store), yield* Kit.take(store), yield* Kit.take(store)]
      for (const held of [c, b, a]) {
        yield* store.ack(held.id, held.token, Kit.complete())
        yield* Kit.pass(1)
      }
      yield* Kit.areStates(store, { a: "completed", b: "completed", c: "gone" })
    }))

  test("of those that ended in one millisecond the ones further back in line are newer", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c"], keep("completed", { count: 2 }))
      const [a, b, c] = [yield* Kit.take(store), yield* Kit.take(store), yield* Kit.take(store)]
      for (const held of [b, c, a]) yield* store.ack(held.id, held.token, Kit.complete())
      yield* Kit.areStates(store, { a: "gone", b: "completed", c: "completed" })
    }))

  test("a job that went to the back of the line is newer than those it let pass", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b"], keep("completed", { count: 1 }))
      const first = yield* Kit.take(store)
      yield* store.ack(first.id, first.token, Kit.again())
      const [b, a] = [yield* Kit.take(store), yield* Kit.take(store)]
      for (const held of [a, b]) yield* store.ack(held.id, held.token, Kit.complete())
      yield* Kit.areStates(store, { a: "completed", b: "gone" })
    }))

  test("the rule of the job that ends counts for all of its name and state, whatever their own", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "completed", { id: "none" })
      yield* Kit.addFinished(store, "completed", { id: "generous", ...keep("completed", { count: 100 }) })
      yield* Kit.addFinished(store, "completed", { id: "still", queue: "other" })
      yield* Kit.areStates(store, { none: "completed", generous: "completed", still: "completed" })
      yield* Kit.pass(1)
      yield* Kit.addFinished(store, "completed", { id: "strict", ...keep("completed", { count: 1 }) })
      yield* Kit.areStates(store, { none: "gone", generous: "gone", still: "gone", strict: "completed" })
    }))

  test("other names, other states and jobs that go on are not touched", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "completed", { id: "other name", name: "other" })
      yield* Kit.addFinished(store, "failed", { id: "failed" })
      yield* Kit.addFinished(store, "cancelled", { id: "cancelled" })
      yield* Kit.addAndTake(store, { id: "active" })
      yield* Flow.addParent(store, ["a"], { fields: { id: "parked" } })
      yield* Kit.add(store, { id: "delayed", delayMs: 1_000 })
      yield* Kit.pass(10)
      yield* Kit.addFinished(store, "completed", { id: "last", ...keep("completed", { count: 0, ageMs: 0 }) })
      yield* Kit.areStates(store, {
        "other name": "completed",
        failed: "failed",
        cancelled: "cancelled",
        active: "active",
        parked: "waiting-children",
        delayed: "delayed",
        last: "gone"
      })
    }))

  test("a count of 0 keeps none, not even the job itself, and frees its id", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "completed", { id: "job", ...keep("completed", { count: 0 }) })
      yield* Kit.isGone(store, "job")
      yield* Kit.isLedger(store, "job", [])
      assert.isFalse((yield* store.enqueue(Kit.request({ id: "job" }))).duplicate)
    }))
}

const aged = (test: Kit.Test) => {
  test("none are kept that finished at or before now - ageMs", (store) =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c"]) {
        yield* Kit.addFinished(store, "completed", { id })
        yield* Kit.pass(1)
      }
      yield* Kit.pass(997)
      yield* Kit.addFinished(store, "completed", { id: "d", ...keep("completed", { ageMs: 999 }) })
      yield* Kit.areStates(store, { a: "gone", b: "gone", c: "completed", d: "completed" })
    }))

  test("an age of 0 keeps none", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "failed", { id: "job", ...keep("failed", { ageMs: 0 }) })
      yield* Kit.isGone(store, "job")
    }))

  test("age counts from the end, not from the enqueue", (store) =>
    Effect.gen(function* () {
      const old = yield* Kit.addAndTake(store, { id: "old" })
      yield* Kit.pass(10_000)
      yield* store.ack(old.id, old.token, Kit.complete())
      yield* Kit.addFinished(store, "completed", { id: "new", ...keep("completed", { ageMs: 5_000 }) })
      yield* Kit.areStates(store, { old: "completed", new: "completed" })
    }))

  test("count and age are applied together", (store) =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c", "d"]) {
        yield* Kit.addFinished(store, "completed", { id })
        yield* Kit.pass(10)
      }
      // By age a and b go, by count none of the others.
      yield* Kit.addFinished(store, "completed", { id: "e", ...keep("completed", { count: 4, ageMs: 30 }) })
      yield* Kit.areStates(store, { a: "gone", b: "gone", c: "completed", d: "completed", e: "completed" })
      // By count c goes, by age none of the others.
      yield* Kit.addFinished(store, "completed", { id: "f", ...keep("completed", { count: 3, ageMs: 1_000 }) })
      yield* Kit.areStates(store, { c: "gone", d: "completed", e: "completed", f: "completed" })
    }))
}

const paths = (test: Kit.Test) => {
  test("each terminal state has its own rule", (store) =>
    Effect.gen(function* () {
      const rules = {
        completed: { count: 1, ageMs: undefined },
        failed: { count: 2, ageMs: undefined },
        cancelled: undefined
      }
      for (const state of terminal) {
        for (const n of [1, 2, 3]) {
          yield* Kit.addFinished(store, state, { id: `${state} ${n}`, keep: rules })
          yield* Kit.pass(1)
        }
      }
      const { cancelled, completed, failed } = yield* store.counts()
      assert.deepStrictEqual({ cancelled, completed, failed }, { cancelled: 3, completed: 1, failed: 2 })
      yield* Kit.areStates(store, { "completed 3": "completed", "failed 2": "failed", "failed 3": "failed" })
    }))

  test("a cancel applies keep, by whatever way it comes", (store) =>
    Effect.gen(function* () {
      const none = keep("cancelled", { count: 0 })
      const waiting = yield* Kit.add(store, none)
      yield* store.cancel(waiting)
      yield* Kit.isGone(store, waiting)
      const keyed = yield* Kit.add(store, { ...none, delayMs: 1_000, dedupe: Kit.dedupe("key") })
      assert.isTrue(yield* store.cancelByDedupe(Kit.name, "key"))
      yield* Kit.isGone(store, keyed)
      const released = yield* Kit.addAndTake(store, none)
      yield* store.cancel(released.id)
      yield* store.release(released.id, released.token)
      yield* Kit.isGone(store, released.id)
      const retried = yield* Kit.addAndTake(store, none)
      yield* store.cancel(retried.id)
      yield* store.ack(retried.id, retried.token, Kit.again())
      yield* Kit.isGone(store, retried.id)
    }))
}

export const retention = (test: Kit.Test) =>
  describe("retention", () => {
    counted(test)
    aged(test)
    paths(test)
  })
