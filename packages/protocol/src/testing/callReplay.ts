/** Calls under a key: whatever is repeated under it is carried out once, and answered as the first. */
import { assert, describe } from "@effect/vitest"
import { Effect, Result } from "effect"
import { CurrentCall } from "../Call.ts"
import { addParent, child, fanOut, report } from "./flowKit.ts"
import * as Kit from "./kit.ts"
import { areSchedules, schedule } from "./schedules.ts"

/** Makes a call under a key. */
const under = <A, E, R>(key: string, call: Effect.Effect<A, E, R>) => Effect.provideService(call, CurrentCall, key)

/** Makes a call, lets something else happen, makes it again under the same key, and asserts that the answers are alike. */
const sameAfter = Effect.fnUntraced(function* <A, E, B, E2>(
  call: Effect.Effect<A, E>,
  meanwhile: Effect.Effect<B, E2>
) {
  const key = Kit.unique("key")
  const first = yield* Effect.result(under(key, call))
  yield* meanwhile
  assert.deepStrictEqual(yield* Effect.result(under(key, call)), first)
  return first
})

const keepNone = { completed: { count: 0, ageMs: undefined }, failed: undefined, cancelled: undefined }

const enqueues = (test: Kit.Test) => {
  for (const id of [undefined, "mine"]) {
    test(`an enqueue ${id === undefined ? "without" : "with"} an id puts one job in, which is new each time`, (store) =>
      Effect.gen(function* () {
        const enqueue = store.enqueue(Kit.request({ id }))
        const first = yield* under("key", enqueue)
        assert.isFalse(first.duplicate)
        assert.deepStrictEqual(yield* under("key", enqueue), first)
        const { token } = yield* Kit.take(store)
        yield* store.ack(first.id, token, Kit.complete())
        assert.deepStrictEqual(yield* under("key", enqueue), first)
        assert.strictEqual((yield* store.list({})).items.length, 1)
      }))

    test(`nor one that has been deleted since, ${id === undefined ? "without" : "with"} an id`, (store) =>
      Effect.gen(function* () {
        const enqueue = store.enqueue(Kit.request({ id, keep: keepNone }))
        const first = yield* under("key", enqueue)
        const { token } = yield* Kit.take(store)
        yield* store.ack(first.id, token, Kit.complete())
        assert.deepStrictEqual(yield* under("key", enqueue), first)
        assert.deepStrictEqual((yield* store.list({})).items, [])
      }))
  }

  test("under another key, or none, an id that is taken is a duplicate, and stays one", (store) =>
    Effect.gen(function* () {
      const enqueue = store.enqueue(Kit.request({ id: "mine" }))
      yield* under("one", enqueue)
      assert.isTrue((yield* enqueue).duplicate)
      yield* sameAfter(enqueue, store.remove("mine"))
      yield* Kit.isGone(store, "mine")
      assert.isFalse((yield* under("other", enqueue)).duplicate)
    }))

  test("what a dedupe key held off stays held off, also when the key is free again", (store) =>
    Effect.gen(function* () {
      const enqueue = store.enqueue(Kit.request({ dedupe: Kit.dedupe("one") }))
      const { id } = yield* under("first", enqueue)
      assert.deepStrictEqual(yield* under("second", enqueue), { id, duplicate: true })
      const { token } = yield* Kit.take(store)
      yield* store.ack(id, token, Kit.complete())
      assert.deepStrictEqual(yield* under("second", enqueue), { id, duplicate: true })
      assert.deepStrictEqual(yield* under("first", enqueue), { id, duplicate: false })
      assert.strictEqual((yield* store.list({})).items.length, 1)
    }))

  test("a replacing enqueue replaces once", (store) =>
    Effect.gen(function* () {
      const enqueue = (n: number) =>
        store.enqueue(Kit.request({ payload: { n }, delayMs: 1000, dedupe: Kit.dedupe("one", { replace: true }) }))
      const { id } = yield* enqueue(1)
      yield* sameAfter(enqueue(2), enqueue(3))
      yield* Kit.isJob(store, id, { payload: { n: 3 } })
    }))

  test("enqueueMany: each of its requests by itself", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "taken" })
      const requests = [
        {},
        { id: "a" },
        { id: "taken" },
        { dedupe: Kit.dedupe("one") },
        { dedupe: Kit.dedupe("one") },
        {}
      ]
      const call = store.enqueueMany(requests.map(Kit.request))
      const first = yield* under("key", call)
      assert.deepStrictEqual(
        first.map(({ duplicate }) => duplicate),
        [false, false, true, false, true, false]
      )
      yield* store.remove(first[0]?.id ?? "")
      assert.deepStrictEqual(yield* under("key", call), first)
      assert.strictEqual((yield* store.list({})).items.length, 4)
    }))

  test("another request under the same key is refused, and changes nothing", (store) =>
    Effect.gen(function* () {
      yield* under("key", store.enqueue(Kit.request({ payload: 1 })))
      yield* Kit.refusedFor(under("key", store.enqueue(Kit.request({ payload: 2 }))), "CallConflict")
      assert.strictEqual((yield* store.list({})).items.length, 1)
    }))
}

const runs = (test: Kit.Test) => {
  test("an ack whose job was deleted by its own rule is a success again, and another outcome is not", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store, { keep: keepNone })
      yield* under("key", store.ack(id, token, Kit.complete()))
      yield* Kit.isGone(store, id)
      yield* under("key", store.ack(id, token, Kit.complete()))
      yield* Kit.failsWith(under("key", store.ack(id, token, Kit.fail())), "JobNotFoundError")
      yield* Kit.failsWith(under("other", store.ack(id, token, Kit.complete())), "JobNotFoundError")
    }))

  test("an ack that comes twice in one call finds its job deleted, both times the call is made", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store, { keep: keepNone })
      const ack = { id, token, outcome: Kit.complete() }
      const first = yield* sameAfter(store.ackMany([ack, ack]), Effect.void)
      assert.deepStrictEqual(Kit.brief(Result.getOrThrow(first)), ["Acked", `JobNotFoundError ${id}`])
    }))

  test("a release gives back once, though another holds the job by the same token since", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store)
      yield* sameAfter(store.release(id, token), Kit.take(store, { token }))
      yield* Kit.isJob(store, id, { state: "active" })
    }))

  test("recoverStalled: the same list, and nobody's lease since", (store) =>
    Effect.gen(function* () {
      const { id } = yield* Kit.addAndTake(store)
      yield* Kit.pass(30_000)
      const first = yield* sameAfter(store.recoverStalled({ maxStalledCount: 1 }), Kit.take(store))
      assert.deepStrictEqual(first, yield* Effect.result(Effect.succeed([{ id, failed: false }])))
    }))
}

const byHand = (test: Kit.Test) => {
  test("remove, cancel, retry and promote act once", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { id: "job", delayMs: 1000 })
      yield* sameAfter(store.promote(id), Effect.void)
      yield* sameAfter(store.cancel(id), Effect.void)
      yield* sameAfter(store.remove(id), Kit.add(store, { id }))
      yield* Kit.isJob(store, id, { state: "waiting" })
      const { token } = yield* Kit.take(store)
      yield* store.ack(id, token, Kit.fail())
      yield* sameAfter(
        store.retry(id),
        Effect.flatMap(Kit.take(store), (held) => store.ack(id, held.token, Kit.fail()))
      )
      yield* Kit.isJob(store, id, { state: "failed" })
    }))

  test("a refusal is remembered too", (store) =>
    Effect.gen(function* () {
      yield* sameAfter(store.cancel("later"), Kit.add(store, { id: "later" }))
      yield* Kit.isJob(store, "later", { state: "waiting" })
    }))

  test("cancelByDedupe cancels once", (store) =>
    Effect.gen(function* () {
      const add = Kit.add(store, { dedupe: Kit.dedupe("one") })
      yield* add
      yield* sameAfter(store.cancelByDedupe(Kit.name, "one"), add)
      assert.strictEqual((yield* store.counts()).waiting, 1)
    }))

  test("pause and resume: a late copy of either does not undo the other", (store) =>
    Effect.gen(function* () {
      yield* sameAfter(store.pause(Kit.queue), store.resume(Kit.queue))
      assert.deepStrictEqual(yield* store.pausedQueues(), [])
      yield* sameAfter(store.resume(Kit.queue), store.pause(Kit.queue))
      assert.deepStrictEqual(yield* store.pausedQueues(), [Kit.queue])
    }))
}

const schedules = (test: Kit.Test) => {
  test("upsertSchedule and removeSchedule: a late copy of either does not undo the other", (store) =>
    Effect.gen(function* () {
      yield* sameAfter(store.upsertSchedule(schedule("a")), store.removeSchedule("a"))
      yield* areSchedules(store, [])
      yield* store.upsertSchedule(schedule("a"))
      yield* sameAfter(store.removeSchedule("a"), store.upsertSchedule(schedule("a", { priority: 3 })))
      yield* areSchedules(store, [schedule("a", { priority: 3 })])
    }))

  test("tickSchedule is true again, and enqueues once", (store) =>
    Effect.gen(function* () {
      yield* store.upsertSchedule(schedule("a"))
      const tick = store.tickSchedule("a", Kit.start + 1000, Kit.start + 2000, Kit.request({ id: "tick" }))
      const first = yield* sameAfter(tick, store.remove("tick"))
      assert.deepStrictEqual(first, yield* Effect.result(Effect.succeed(true)))
      yield* Kit.isGone(store, "tick")
    }))

  test("advanceSchedule: a late copy leaves alone what has been set back since", (store) =>
    Effect.gen(function* () {
      yield* store.upsertSchedule(schedule("a"))
      const back = Effect.andThen(store.removeSchedule("a"), store.upsertSchedule(schedule("a")))
      yield* sameAfter(store.advanceSchedule("a", Kit.start + 1000, Kit.start + 2000), back)
      yield* areSchedules(store, [schedule("a")])
    }))
}

const flows = (test: Kit.Test) => {
  test("recordChildResults answers what it applied and settled", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a"])
      const first = yield* sameAfter(store.recordChildResults([report(id, "a", "completed")]), Kit.take(store))
      assert.deepStrictEqual(first, yield* Effect.result(Effect.succeed([{ applied: true, parentSettled: true }])))
    }))

  test("flowSweepWork hands out the same work", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"])
      yield* Kit.pass(1000)
      yield* sameAfter(
        store.flowSweepWork({ pendingAgeMs: 1000 }),
        store.recordChildResults([report(id, "a", "failed")])
      )
    }))

  test("a fan-out that is repeated has its children once", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store)
      yield* sameAfter(store.ack(id, token, fanOut([child(id, "a")])), Effect.void)
      assert.strictEqual((yield* store.listChildResults(id)).items.length, 1)
    }))
}

const keys = (test: Kit.Test) => {
  test("a key that was given to another call is refused, and nothing happens", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b"])
      assert.isTrue(yield* under("key", store.remove("a")))
      yield* Kit.refusedFor(under("key", store.remove("b")), "CallConflict")
      yield* Kit.refusedFor(under("key", store.cancel("a")), "CallConflict")
      yield* Kit.isJob(store, "b", { state: "waiting" })
    }))

  test("a key is forgotten some minutes later", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "a" })
      assert.isTrue(yield* under("key", store.remove("a")))
      yield* Kit.pass(9 * 60_000)
      assert.isTrue(yield* under("key", store.remove("a")))
      yield* Kit.pass(60_000)
      assert.isFalse(yield* under("key", store.remove("a")))
    }))
}

export const callReplay = (test: Kit.Test) => {
  describe("calls under a key: enqueue", () => {
    enqueues(test)
  })
  describe("calls under a key: runs", () => {
    runs(test)
  })
  describe("calls under a key: by hand", () => {
    byHand(test)
  })
  describe("calls under a key: schedules", () => {
    schedules(test)
  })
  describe("calls under a key: flows", () => {
    flows(test)
  })
  describe("calls under a key: keys", () => {
    keys(test)
  })
}
