/** The outbox: what ends of children it gets, and what it does not. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { EnqueueRequest } from "../Enqueue.ts"
import type { FlowChildReport } from "../Flow.ts"
import type { TerminalState } from "../Job.ts"
import { addParent, child, fanOut, isParent, flow, parentLink, records, report, settled } from "./flowKit.ts"
import * as Kit from "./kit.ts"

const flowId = "the parent"

/** Fields of a child of a flow that lives in another store. */
const asChild = (key = "key"): Partial<EnqueueRequest> => ({ parent: parentLink(flowId, key) })

/** A report of the child with this key. */
const ended = (outcome: TerminalState, fields?: Partial<FlowChildReport>, key = "key"): FlowChildReport => ({
  flowId,
  childKey: key,
  outcome,
  exit: undefined,
  failedReason: undefined,
  ...fields
})

/** Asserts the reports in the outbox, in order, each in an entry with the way to its parent and an id of its own. */
const holds = Effect.fnUntraced(function* (store: Kit.Store, reports: ReadonlyArray<FlowChildReport>) {
  const entries = yield* store.peekOutbox({ limit: 100 })
  assert.deepStrictEqual(
    entries.map(({ flowName, parentStoreKey, report }) => ({ flowName, parentStoreKey, report })),
    reports.map((each) => ({ flowName: "flow", parentStoreKey: "parents", report: each }))
  )
  for (const { id } of entries) assert.isNotEmpty(id)
  assert.strictEqual(new Set(entries.map(({ id }) => id)).size, entries.length, "two entries have one id")
})

const stalledReason = "job stalled more than allowable limit"

const addAndTakeChild = (store: Kit.Store) => Kit.addAndTake(store, asChild(), { lockDurationMs: 1000 })

const addParkedChild = (store: Kit.Store, failFast = false) =>
  addParent(store, ["x", "y"], { failFast, fields: asChild() })

/** Every way that a job becomes terminal: the rule, how a child is brought there, and what it must have reported. */
const paths: ReadonlyArray<{
  readonly rule: string
  readonly go: (store: Kit.Store) => Effect.Effect<unknown, unknown>
  readonly reports: FlowChildReport
}> = [
  {
    rule: "ack Complete, with its exit",
    go: (store) =>
      Effect.flatMap(addAndTakeChild(store), ({ id, token }) => store.ack(id, token, Kit.complete({ sum: 3 }))),
    reports: ended("completed", { exit: { sum: 3 } })
  },
  {
    rule: "ack Fail, with its exit",
    go: (store) => Effect.flatMap(addAndTakeChild(store), ({ id, token }) => store.ack(id, token, Kit.fail(["no"]))),
    reports: ended("failed", { exit: ["no"] })
  },
  {
    rule: "ack Cancelled",
    go: (store) => Effect.flatMap(addAndTakeChild(store), ({ id, token }) => store.ack(id, token, Kit.cancelled)),
    reports: ended("cancelled")
  },
  {
    rule: "a stall too many, with the store's reason",
    go: (store) =>
      addAndTakeChild(store).pipe(
        Effect.andThen(Kit.pass(1000)),
        Effect.andThen(store.recoverStalled({ maxStalledCount: 0 }))
      ),
    reports: ended("failed", { failedReason: stalledReason })
  },
  {
    rule: "cancel of a waiting job",
    go: (store) => Effect.flatMap(Kit.add(store, asChild()), store.cancel),
    reports: ended("cancelled")
  },
  {
    rule: "cancel of a delayed job",
    go: (store) => Effect.flatMap(Kit.add(store, { ...asChild(), delayMs: 1000 }), store.cancel),
    reports: ended("cancelled")
  },
  {
    rule: "cancelByDedupe of a waiting job",
    go: (store) =>
      Kit.add(store, {
        ...asChild(),
        dedupe: { key: "k", ttlMs: undefined, extend: false, replace: false }
      }).pipe(Effect.andThen(store.cancelByDedupe(Kit.name, "k"))),
    reports: ended("cancelled")
  },
  {
    rule: "cancel of a nested parent in waiting-children",
    go: (store) => Effect.flatMap(addParkedChild(store), ({ id }) => store.cancel(id)),
    reports: ended("cancelled")
  },
  {
    rule: "a requested cancel honoured at release",
    go: (store) =>
      Effect.flatMap(addAndTakeChild(store), ({ id, token }) =>
        Effect.andThen(store.cancel(id), store.release(id, token))
      ),
    reports: ended("cancelled")
  },
  {
    rule: "a requested cancel honoured at ack Retry",
    go: (store) =>
      Effect.flatMap(addAndTakeChild(store), ({ id, token }) =>
        Effect.andThen(store.cancel(id), store.ack(id, token, Kit.again(500, "exit")))
      ),
    reports: ended("cancelled")
  },
  {
    rule: "a requested cancel honoured at ack FanOut",
    go: (store) =>
      Effect.flatMap(addAndTakeChild(store), ({ id, token }) =>
        Effect.andThen(store.cancel(id), store.ack(id, token, fanOut([child(id, "x")])))
      ),
    reports: ended("cancelled")
  },
  {
    rule: "a requested cancel honoured at stall recovery",
    go: (store) =>
      Effect.flatMap(addAndTakeChild(store), ({ id }) => store.cancel(id)).pipe(
        Effect.andThen(Kit.pass(1000)),
        Effect.andThen(store.recoverStalled({ maxStalledCount: 5 }))
      ),
    reports: ended("cancelled")
  },
  {
    rule: "ack Complete that won over a requested cancel",
    go: (store) =>
      Effect.flatMap(addAndTakeChild(store), ({ id, token }) =>
        Effect.andThen(store.cancel(id), store.ack(id, token, Kit.complete("won")))
      ),
    reports: ended("completed", { exit: "won" })
  },
  {
    rule: "ack Fail that won over a requested cancel",
    go: (store) =>
      Effect.flatMap(addAndTakeChild(store), ({ id, token }) =>
        Effect.andThen(store.cancel(id), store.ack(id, token, Kit.fail("lost")))
      ),
    reports: ended("failed", { exit: "lost" })
  }
]

const terminal = (test: Kit.Test) => {
  for (const { go, reports, rule } of paths) {
    test(`a child's end appends exactly one entry: ${rule}`, (store) =>
      Effect.gen(function* () {
        yield* go(store)
        yield* holds(store, [reports])
      }))
  }

  test("a child's end appends exactly one entry: the fail-fast settle of a nested parent, with its reason", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParkedChild(store, true)
      yield* records(store, [report(id, "x", "failed")], [settled])
      const { failedReason } = yield* Kit.find(store, id)
      assert.include(failedReason, '"x" failed')
      yield* holds(store, [ended("failed", { failedReason })])
    }))

  test("a nested parent that collects appends its entry when it completes, not when its children do", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["x"], { fields: asChild() })
      yield* records(store, [report(id, "x", "completed")], [settled])
      yield* holds(store, [])
      const { token } = yield* Kit.take(store)
      yield* store.ack(id, token, Kit.complete("collected"))
      yield* holds(store, [ended("completed", { exit: "collected" })])
    }))

  test("an entry is appended also when retention takes the job in the same step", (store) =>
    Effect.gen(function* () {
      const keep = { completed: { count: 0, ageMs: undefined }, failed: undefined, cancelled: undefined }
      const { id, token } = yield* Kit.addAndTake(store, { ...asChild(), keep })
      yield* store.ack(id, token, Kit.complete("gone"))
      yield* Kit.isGone(store, id)
      yield* holds(store, [ended("completed", { exit: "gone" })])
    }))

  test("an exit that is absent stays absent, and null stays null", (store) =>
    Effect.gen(function* () {
      for (const [key, exit] of [
        ["a", undefined],
        ["b", null]
      ] as const) {
        const { id, token } = yield* Kit.addAndTake(store, asChild(key))
        yield* store.ack(id, token, Kit.complete(exit))
      }
      yield* holds(store, [ended("completed", {}, "a"), ended("completed", { exit: null }, "b")])
    }))

  test("an entry carries the names that the child was enqueued with", (store) =>
    Effect.gen(function* () {
      const parent = parentLink("p \u{1f600}", "k/\u00e9", {
        flowName: "another",
        parentStoreKey: "far/away",
        depth: 3
      })
      const id = yield* Kit.add(store, { parent })
      yield* store.cancel(id)
      const [entry] = yield* store.peekOutbox({ limit: 1 })
      assert.deepInclude(entry, { flowName: "another", parentStoreKey: "far/away" })
      assert.deepInclude(entry?.report, { flowId: "p \u{1f600}", childKey: "k/\u00e9" })
    }))

  test("each end counts: a child that is retried and ends again appends again", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.addFinished(store, "failed", asChild())
      yield* store.retry(id)
      const { token } = yield* Kit.take(store)
      yield* store.ack(id, token, Kit.complete("at last"))
      yield* holds(store, [ended("failed", { exit: "broken" }), ended("completed", { exit: "at last" })])
    }))

  test("jobs that a batch or a tick inserted report like any other", (store) =>
    Effect.gen(function* () {
      yield* store.enqueueMany([Kit.request({ id: "batch", ...asChild("batch") })])
      const nextRunAt = Kit.start
      yield* store.upsertSchedule({
        ...Kit.request(),
        key: "s",
        jobName: Kit.name,
        cron: undefined,
        tz: undefined,
        everyMs: 1000,
        group: undefined,
        nextRunAt
      })
      yield* store.tickSchedule("s", nextRunAt, nextRunAt + 1000, Kit.request({ id: "tick", ...asChild("tick") }))
      yield* store.cancel("batch")
      yield* store.cancel("tick")
      yield* holds(store, [ended("cancelled", {}, "batch"), ended("cancelled", {}, "tick")])
    }))
}

const silent = (test: Kit.Test) => {
  test("a job without a parent appends nothing, however it ends", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "completed")
      yield* Kit.addFinished(store, "failed")
      yield* Kit.addFinished(store, "cancelled")
      yield* store.cancel(yield* Kit.add(store))
      yield* Kit.addAndTake(store, {}, { lockDurationMs: 0 })
      yield* store.recoverStalled({ maxStalledCount: 0 })
      const { id } = yield* addParent(store, ["x"], { failFast: true })
      yield* records(store, [report(id, "x", "failed")], [settled])
      yield* holds(store, [])
    }))

  test("a child that has not ended appends nothing", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store, asChild())
      yield* store.release(id, token)
      const second = yield* Kit.take(store)
      yield* store.ack(id, second.token, Kit.again(1000, "exit"))
      yield* store.promote(id)
      yield* Kit.take(store, { lockDurationMs: 0 })
      yield* store.recoverStalled({ maxStalledCount: 1 })
      yield* Kit.take(store)
      yield* store.cancel(id)
      yield* Kit.isJob(store, id, { state: "active", cancelRequested: true })
      yield* holds(store, [])
    }))

  test("FanOut appends nothing", (store) =>
    Effect.gen(function* () {
      yield* addParkedChild(store)
      yield* holds(store, [])
    }))

  test("FanOut without children appends nothing", (store) =>
    Effect.gen(function* () {
      yield* addParent(store, [], { fields: asChild() })
      yield* holds(store, [])
    }))

  test("remove appends nothing, and leaves the entry of the end that was", (store) =>
    Effect.gen(function* () {
      yield* store.remove(yield* Kit.add(store, asChild("waiting")))
      yield* store.remove(yield* Kit.add(store, { ...asChild("delayed"), delayMs: 1000 }))
      yield* holds(store, [])
      yield* store.remove(yield* Kit.addFinished(store, "cancelled", asChild()))
      yield* holds(store, [ended("cancelled")])
    }))

  test("a repeated ack, and a refused one, append nothing more", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store, asChild())
      yield* Kit.failsWith(store.ack(id, "another", Kit.complete()), "LockLostError")
      yield* Kit.refusedFor(store.ack(id, token, Kit.complete(Number.NaN)), "InvalidArgument")
      yield* holds(store, [])
      yield* store.ack(id, token, Kit.complete("exit"))
      yield* store.ack(id, token, Kit.complete("exit"))
      yield* Kit.failsWith(store.cancel(id), "JobNotCancellableError")
      yield* holds(store, [ended("completed", { exit: "exit" })])
    }))

  test("reports that are recorded append nothing for their children", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["x"])
      yield* records(store, [report(id, "x", "completed")], [settled])
      yield* isParent(store, id, "waiting", flow({ completed: 1 }))
      yield* holds(store, [])
    }))
}

export const outbox = (test: Kit.Test) => {
  describe("outbox: ends of children", () => {
    terminal(test)
  })
  describe("outbox: no entry", () => {
    silent(test)
  })
}
