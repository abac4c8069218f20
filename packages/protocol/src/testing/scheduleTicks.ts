/** Moving a schedule on: the compare-and-set of a tick, with and without a job. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Kit from "./kit.ts"
import { areSchedules, schedule } from "./schedules.ts"

const due = Kit.start + 1000
const next = Kit.start + 61_000

/** A store with one schedule, that is due now. */
const withDue = Effect.fnUntraced(function* (store: Kit.Store, key = "key") {
  yield* store.upsertSchedule(schedule(key, { nextRunAt: due }))
  yield* Kit.pass(1000)
})

const standsAt = (store: Kit.Store, nextRunAt: number) => areSchedules(store, [schedule("key", { nextRunAt })])

const ticks = (test: Kit.Test) => {
  test("tickSchedule inserts the job and advances, and is true", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      const request = Kit.request({
        id: "tick",
        payload: null,
        metadata: { schedule: "key" },
        priority: 4,
        attemptsMax: 3,
        backoff: { _tag: "fixed", delayMs: 100, factor: undefined },
        keep: { completed: { count: 1, ageMs: undefined }, failed: undefined, cancelled: undefined },
        timeoutMs: 500,
        trace: { traceId: "t", spanId: "s", sampled: true, delayed: true }
      })
      assert.isTrue(yield* store.tickSchedule("key", due, next, request))
      yield* standsAt(store, next)
      const now = Kit.start + 1000
      assert.deepStrictEqual(yield* Kit.find(store, "tick"), {
        ...Kit.recordOf("tick", request),
        runAt: now,
        enqueuedAt: now
      })
      assert.strictEqual((yield* Kit.take(store)).id, "tick")
    }))

  test("the job of a tick may be delayed like any other", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      assert.isTrue(yield* store.tickSchedule("key", due, next, Kit.request({ id: "tick", delayMs: 500 })))
      yield* Kit.isJob(store, "tick", { state: "delayed", runAt: Kit.start + 1500 })
    }))

  test("a schedule need not be due to be ticked", (store) =>
    Effect.gen(function* () {
      yield* store.upsertSchedule(schedule("key", { nextRunAt: due }))
      assert.isTrue(yield* store.tickSchedule("key", due, next, Kit.request({ id: "early" })))
      yield* standsAt(store, next)
      yield* Kit.areStates(store, { early: "waiting" })
    }))

  test("with a stale expectation nothing happens, and it is false", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      for (const stale of [due - 1, due + 1, next]) {
        assert.isFalse(yield* store.tickSchedule("key", stale, next + 1, Kit.request({ id: "tick" })))
      }
      yield* standsAt(store, due)
      yield* Kit.isGone(store, "tick")
    }))

  test("with an unknown key nothing happens, and it is false", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      assert.isFalse(yield* store.tickSchedule("unknown", due, next, Kit.request({ id: "tick" })))
      yield* standsAt(store, due)
      yield* Kit.isGone(store, "tick")
    }))

  test("when the job's id exists in any state, the schedule advances, the job stays, and it is false", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "completed", { id: "completed" })
      yield* Kit.add(store, { id: "waiting", payload: "old" })
      for (const id of ["completed", "waiting"]) {
        const before = yield* Kit.find(store, id)
        yield* store.upsertSchedule(schedule("key", { nextRunAt: due }))
        assert.isFalse(yield* store.tickSchedule("key", due, next, Kit.request({ id, payload: "new" })))
        yield* standsAt(store, next)
        assert.deepStrictEqual(yield* Kit.find(store, id), before)
        yield* store.removeSchedule("key")
      }
    }))

  test("a request without an id is refused, and nothing happens", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      const { field } = yield* Kit.refusedFor(store.tickSchedule("key", due, next, Kit.request()), "InvalidArgument")
      assert.strictEqual(field, "request.id")
      yield* standsAt(store, due)
      assert.deepStrictEqual(yield* store.list({}), { items: [], cursor: undefined })
    }))

  test("of many ticks of one slot at once exactly one is true, and one job comes of it", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      const answers = yield* Effect.forEach(
        ["a", "b", "c", "d", "e"],
        (id) => store.tickSchedule("key", due, next, Kit.request({ id })),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        answers.filter((fired) => fired),
        1
      )
      assert.lengthOf((yield* store.list({})).items, 1)
      yield* standsAt(store, next)
    }))

  test("a slot whose job is gone already does not fire again", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      const keep = { completed: { count: 0, ageMs: undefined }, failed: undefined, cancelled: undefined }
      const request = Kit.request({ id: "tick", keep })
      assert.isTrue(yield* store.tickSchedule("key", due, next, request))
      const { token } = yield* Kit.take(store)
      yield* store.ack("tick", token, Kit.complete())
      yield* Kit.isGone(store, "tick")
      assert.isFalse(yield* store.tickSchedule("key", due, next, request))
      yield* Kit.isGone(store, "tick")
      yield* standsAt(store, next)
    }))

  test("slot after slot fires", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      assert.isTrue(yield* store.tickSchedule("key", due, next, Kit.request({ id: "slot-1" })))
      assert.isTrue(yield* store.tickSchedule("key", next, next + 1, Kit.request({ id: "slot-2" })))
      yield* Kit.areStates(store, { "slot-1": "waiting", "slot-2": "waiting" })
      yield* standsAt(store, next + 1)
    }))

  test("a tick moves its own schedule only", (store) =>
    Effect.gen(function* () {
      yield* withDue(store, "other")
      yield* withDue(store)
      assert.isTrue(yield* store.tickSchedule("key", due, next, Kit.request({ id: "tick" })))
      yield* areSchedules(store, [schedule("key", { nextRunAt: next }), schedule("other", { nextRunAt: due })])
    }))

  test("a tick wakes a taker of the job's queue", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      const { wakeToken } = yield* Kit.takeNothing(store, { queue: "parked" })
      const parked = yield* Effect.forkChild(Kit.isWoken(store, ["parked"], wakeToken))
      yield* store.tickSchedule("key", due, next, Kit.request({ id: "tick", queue: "parked" }))
      yield* Fiber.join(parked)
    }))
}

const advances = (test: Kit.Test) => {
  test("advanceSchedule moves a schedule that stands where it is expected, and inserts no job", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      yield* store.advanceSchedule("key", due, next)
      yield* standsAt(store, next)
      assert.deepStrictEqual((yield* store.list({})).items, [])
    }))

  test("advanceSchedule with a stale expectation, or of an unknown key, does nothing", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      yield* store.advanceSchedule("key", due - 1, next)
      yield* store.advanceSchedule("key", next, next + 1)
      yield* store.advanceSchedule("unknown", due, next)
      yield* standsAt(store, due)
    }))

  test("a repeated advanceSchedule changes nothing more", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      yield* store.advanceSchedule("key", due, next)
      yield* store.advanceSchedule("key", due, next)
      yield* standsAt(store, next)
    }))

  test("after advanceSchedule a tick of the slot it left is stale", (store) =>
    Effect.gen(function* () {
      yield* withDue(store)
      yield* store.advanceSchedule("key", due, next)
      assert.isFalse(yield* store.tickSchedule("key", due, next, Kit.request({ id: "tick" })))
      yield* Kit.isGone(store, "tick")
    }))
}

export const scheduleTicks = (test: Kit.Test) => {
  describe("schedules: tickSchedule", () => {
    ticks(test)
  })
  describe("schedules: advanceSchedule", () => {
    advances(test)
  })
}
