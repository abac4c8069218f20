/** How many jobs are in each state. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { JobCounts } from "../List.ts"
import { addParent, applied, records, report, settled } from "./flowKit.ts"
import * as Kit from "./kit.ts"

/** Asserts all seven numbers; what is not given is 0. */
const areCounts = Effect.fnUntraced(function* (store: Kit.Store, expected: Partial<JobCounts>, queue?: string) {
  const none = { waiting: 0, delayed: 0, active: 0, "waiting-children": 0, completed: 0, failed: 0, cancelled: 0 }
  assert.deepStrictEqual(yield* store.counts(queue), { ...none, ...expected })
})

export const counts = (test: Kit.Test) =>
  describe("counts", () => {
    test("an empty store has a number for each of the seven states, all 0", (store) => areCounts(store, {}))

    test("each job is counted in its state", (store) =>
      Effect.gen(function* () {
        yield* Kit.addFinished(store, "completed")
        yield* Kit.addFinished(store, "failed")
        yield* Kit.addFinished(store, "failed")
        yield* Kit.addFinished(store, "cancelled")
        yield* addParent(store, ["a", "b"])
        yield* Kit.addAndTake(store)
        yield* Kit.add(store, { delayMs: 1000 })
        yield* Kit.add(store)
        yield* Kit.add(store)
        yield* Kit.add(store)
        yield* areCounts(store, {
          waiting: 3,
          delayed: 1,
          active: 1,
          "waiting-children": 1,
          completed: 1,
          failed: 2,
          cancelled: 1
        })
      }))

    test("with a queue, only its jobs; without one, those of all", (store) =>
      Effect.gen(function* () {
        yield* Kit.add(store, { queue: "a" })
        yield* Kit.add(store, { queue: "a", delayMs: 1000 })
        yield* Kit.addFinished(store, "completed", { queue: "b" })
        yield* areCounts(store, { waiting: 1, delayed: 1 }, "a")
        yield* areCounts(store, { completed: 1 }, "b")
        yield* areCounts(store, {}, "unknown")
        yield* areCounts(store, { waiting: 1, delayed: 1, completed: 1 })
      }))

    test("every step of a job's life is counted at once", (store) =>
      Effect.gen(function* () {
        const id = yield* Kit.add(store, { delayMs: 1000 })
        yield* areCounts(store, { delayed: 1 })
        yield* store.promote(id)
        yield* areCounts(store, { waiting: 1 })
        const first = yield* Kit.take(store)
        yield* areCounts(store, { active: 1 })
        yield* store.release(id, first.token)
        yield* areCounts(store, { waiting: 1 })
        const second = yield* Kit.take(store)
        yield* store.ack(id, second.token, Kit.again(500))
        yield* areCounts(store, { delayed: 1 })
        yield* Kit.pass(500)
        const third = yield* Kit.take(store, { lockDurationMs: 100 })
        yield* areCounts(store, { active: 1 })
        yield* Kit.pass(100)
        yield* store.recoverStalled({ maxStalledCount: 1 })
        yield* areCounts(store, { waiting: 1 })
        assert.strictEqual(third.id, id)
        const fourth = yield* Kit.take(store)
        yield* store.ack(id, fourth.token, Kit.fail())
        yield* areCounts(store, { failed: 1 })
        yield* store.retry(id)
        yield* areCounts(store, { waiting: 1 })
        yield* store.cancel(id)
        yield* areCounts(store, { cancelled: 1 })
        yield* store.remove(id)
        yield* areCounts(store, {})
      }))

    test("due jobs of a claim's queue count as waiting once the claim has moved them", (store) =>
      Effect.gen(function* () {
        yield* Kit.addAll(store, ["a", "b", "c"], { delayMs: 1000 })
        yield* Kit.pass(1000)
        yield* Kit.take(store)
        yield* areCounts(store, { active: 1, waiting: 2 })
      }))

    test("a flow parent is counted where it parks and where it goes on; its children are not jobs yet", (store) =>
      Effect.gen(function* () {
        const { id } = yield* addParent(store, ["a", "b"])
        yield* areCounts(store, { "waiting-children": 1 })
        yield* records(store, [report(id, "a", "completed")], [applied])
        yield* areCounts(store, { "waiting-children": 1 })
        yield* records(store, [report(id, "b", "failed")], [settled])
        yield* areCounts(store, { waiting: 1 })
      }))

    test("duplicates, dropped enqueues and refused calls change no number", (store) =>
      Effect.gen(function* () {
        const dedupe = { key: "k", ttlMs: undefined, extend: false, replace: false }
        const id = yield* Kit.add(store, { id: "job", dedupe })
        yield* store.enqueue(Kit.request({ id, delayMs: 1000 }))
        yield* store.enqueue(Kit.request({ dedupe, delayMs: 1000 }))
        yield* Kit.failsWith(store.enqueue(Kit.request({ payload: Number.NaN })), "JobStoreError")
        yield* Kit.failsWith(store.promote(id), "JobNotPromotableError")
        yield* Kit.failsWith(store.retry(id), "JobNotRetryableError")
        yield* areCounts(store, { waiting: 1 })
      }))

    test("jobs that retention lets go are not counted any more", (store) =>
      Effect.gen(function* () {
        const keep = { completed: { count: 1, ageMs: undefined }, failed: undefined, cancelled: undefined }
        yield* Kit.addFinished(store, "completed", { keep })
        yield* Kit.addFinished(store, "completed", { keep })
        yield* Kit.addFinished(store, "completed", { keep })
        yield* areCounts(store, { completed: 1 })
      }))

    test("after many jobs at once the numbers are exact", (store) =>
      Effect.gen(function* () {
        const numbers = Array.from({ length: 60 }, (_, index) => index)
        yield* Effect.forEach(
          numbers,
          (index) => store.enqueue(Kit.request({ id: `job-${index}`, delayMs: index % 3 === 0 ? 1000 : 0 })),
          { concurrency: "unbounded" }
        )
        yield* areCounts(store, { waiting: 40, delayed: 20 })
        yield* Effect.forEach(numbers, (index) => store.cancel(`job-${index}`), { concurrency: "unbounded" })
        yield* areCounts(store, { cancelled: 60 })
      }))
  })
