/** `pause`, `resume`, `pausedQueues`. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Kit from "./kit.ts"

export const pause = (test: Kit.Test) =>
  describe("pause", () => {
    test("a paused queue hands out nothing until resume, and then its jobs in their order", (store) =>
      Effect.gen(function* () {
        yield* Kit.addAll(store, ["a", "b"])
        yield* store.pause(Kit.queue)
        assert.deepStrictEqual(yield* Kit.takeAll(store), [])
        yield* Kit.add(store, { id: "c" })
        yield* Kit.areStates(store, { a: "waiting", b: "waiting", c: "waiting" })
        yield* store.resume(Kit.queue)
        assert.deepStrictEqual(yield* Kit.takeAll(store), ["a", "b", "c"])
      }))

    test("other queues go on", (store) =>
      Effect.gen(function* () {
        yield* store.pause("other")
        yield* Kit.add(store, { id: "here" })
        yield* Kit.add(store, { id: "there", queue: "other" })
        assert.deepStrictEqual(yield* Kit.takeAll(store), ["here"])
        assert.deepStrictEqual(yield* Kit.takeAll(store, { queue: "other" }), [])
      }))

    test("jobs that were claimed before go on: heartbeat, ack, release", (store) =>
      Effect.gen(function* () {
        yield* Kit.addAll(store, ["a", "b"])
        const [first, second] = [yield* Kit.take(store), yield* Kit.take(store)]
        yield* store.pause(Kit.queue)
        const answer = yield* store.extendLocks([{ id: first.id, token: first.token }], 1_000)
        assert.deepStrictEqual(answer, { lost: [], cancelRequested: [] })
        yield* store.ack(first.id, first.token, Kit.complete())
        yield* store.release(second.id, second.token)
        yield* Kit.areStates(store, { a: "completed", b: "waiting" })
        yield* Kit.takeNothing(store)
      }))

    test("pausedQueues names the paused queues, each once", (store) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* store.pausedQueues(), [])
        for (const queue of ["b", "a", "c", "b"]) yield* store.pause(queue)
        assert.deepStrictEqual([...(yield* store.pausedQueues())].toSorted(), ["a", "b", "c"])
        yield* store.resume("a")
        yield* store.resume("a")
        assert.deepStrictEqual([...(yield* store.pausedQueues())].toSorted(), ["b", "c"])
      }))

    test("pausing twice needs one resume, and resuming a queue that is not paused changes nothing", (store) =>
      Effect.gen(function* () {
        yield* store.resume(Kit.queue)
        yield* store.pause(Kit.queue)
        yield* store.pause(Kit.queue)
        yield* store.resume(Kit.queue)
        assert.deepStrictEqual(yield* store.pausedQueues(), [])
        yield* Kit.add(store, { id: "job" })
        assert.deepStrictEqual(yield* Kit.takeAll(store), ["job"])
      }))

    test("a queue can be paused before it has a job", (store) =>
      Effect.gen(function* () {
        yield* store.pause("future")
        yield* Kit.add(store, { queue: "future" })
        yield* Kit.takeNothing(store, { queue: "future" })
      }))
  })
