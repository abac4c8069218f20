/** Taking jobs: which, in which order, and what an empty answer says. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as States from "./stateKit.ts"
import * as Flow from "./flowKit.ts"
import * as Kit from "./kit.ts"

const basics = (test: Kit.Test) => {
  test("a claimed job is active, began now, and the answer is the record as it is kept", (store) =>
    Effect.gen(function* () {
      const request = Kit.request({ id: "job" })
      yield* store.enqueue(request)
      yield* Kit.pass(250)
      const { job } = yield* Kit.take(store)
      assert.deepStrictEqual(job, {
        ...Kit.recordOf("job", request),
        state: "active",
        processedAt: Kit.start + 250
      })
      assert.deepStrictEqual(yield* Kit.find(store, "job"), job)
    }))

  test("a claimed job is not given to another token, and spends no attempt", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* Kit.takeNothing(store)
      yield* Kit.isJob(store, held.id, { state: "active", attemptsMade: 0 })
      yield* Kit.isLedger(store, held.id, [])
    }))

  test("an empty queue gives Empty, without nextRunAt and with a wake token", (store) =>
    Effect.gen(function* () {
      const empty = yield* Kit.takeNothing(store)
      assert.isUndefined(empty.nextRunAt)
      assert.isString(empty.wakeToken)
      assert.isAbove(empty.wakeToken.length, 0)
    }))

  test("only jobs of the queue with one of the names are given", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "other queue", queue: "other", priority: 9 })
      yield* Kit.add(store, { id: "other name", name: "other", priority: 9 })
      yield* Kit.add(store, { id: "a", name: "a" })
      yield* Kit.add(store, { id: "b", name: "b" })
      yield* Kit.add(store, { id: "c", name: "c" })
      assert.deepStrictEqual(yield* Kit.takeAll(store, { names: ["c", "nobody's", "a"] }), ["a", "c"])
      assert.deepStrictEqual(yield* Kit.takeAll(store, { names: [] }), [])
      assert.deepStrictEqual(yield* Kit.takeAll(store, { queue: "Queue" }), [])
      yield* Kit.areStates(store, { "other queue": "waiting", "other name": "waiting", b: "waiting" })
    }))

  for (const state of ["active", "waiting-children", "completed", "failed", "cancelled"] as const) {
    test(`a job that is ${state} is not given`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state)
        yield* Kit.takeNothing(store)
        yield* Kit.isJob(store, id, { state })
      }))
  }
}

const order = (test: Kit.Test) => {
  test("within a priority the first in line is first, also when all come in one millisecond", (store) =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 30 }, (_, index) => `job-${(index * 7) % 30}`)
      yield* Kit.addAll(store, ids)
      assert.deepStrictEqual(yield* Kit.takeAll(store), ids)
    }))

  test("the highest priority is first, negative ones come last", (store) =>
    Effect.gen(function* () {
      const priorities = [0, -1, 10, 9, 0, -100, 10]
      for (const [index, priority] of priorities.entries())
        yield* Kit.add(store, { id: `${priority}/${index}`, priority })
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["10/2", "10/6", "9/3", "0/0", "0/4", "-1/1", "-100/5"])
    }))

  test("priorities at both ends of 32 bits are ordered", (store) =>
    Effect.gen(function* () {
      const priorities = [-2_147_483_648, 2_147_483_647, -2_147_483_647, 0, 2_147_483_646]
      for (const priority of priorities) yield* Kit.add(store, { id: `${priority}`, priority })
      const ids = ["2147483647", "2147483646", "0", "-2147483647", "-2147483648"]
      assert.deepStrictEqual(yield* Kit.takeAll(store), ids)
      yield* Kit.isJob(store, "-2147483648", { priority: -2_147_483_648 })
      yield* Kit.isJob(store, "2147483647", { priority: 2_147_483_647 })
    }))

  test("several names share one line", (store) =>
    Effect.gen(function* () {
      for (const [id, name] of ["ax", "by", "cx", "dz", "ey"].map((pair) => [pair, pair.slice(1)] as const)) {
        yield* Kit.add(store, { id, name })
      }
      assert.deepStrictEqual(yield* Kit.takeAll(store, { names: ["y", "x"] }), ["ax", "by", "cx", "ey"])
    }))

  test("release, recovery and promotion keep the place in line", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["released", "recovered"])
      yield* Kit.add(store, { id: "promoted", delayMs: 60_000 })
      yield* Kit.add(store, { id: "due", delayMs: 1_000 })
      yield* Kit.add(store, { id: "last" })
      const released = yield* Kit.take(store)
      yield* Kit.take(store, { lockDurationMs: 1_000 })
      yield* Kit.pass(1_000)
      yield* store.release(released.id, released.token)
      yield* store.recoverStalled({ maxStalledCount: 1 })
      yield* store.promote("promoted")
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["released", "recovered", "promoted", "due", "last"])
    }))

  test("ack Retry, retry and a parent that becomes runnable go to the back", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["retried", "delayed", "failed", "parent", "behind"])
      const [retried, delayed, failed, parent] = yield* Effect.all(Array.from({ length: 4 }, () => Kit.take(store)))
      const end = (held: Kit.Held | undefined, outcome: Parameters<Kit.Store["ack"]>[2]) =>
        store.ack(held?.id ?? "", held?.token ?? "", outcome)
      yield* end(retried, Kit.again())
      yield* end(delayed, Kit.again(1))
      yield* end(failed, Kit.fail())
      yield* store.retry("failed")
      yield* end(parent, Flow.fanOut([]))
      yield* Kit.add(store, { id: "youngest" })
      yield* Kit.pass(1)
      const ids = ["behind", "retried", "delayed", "failed", "parent", "youngest"]
      assert.deepStrictEqual(yield* Kit.takeAll(store), ids)
    }))

  test("priority goes before the place in line also for those who went to the back", (store) =>
    Effect.gen(function* () {
      const high = yield* Kit.addAndTake(store, { id: "high", priority: 1 })
      yield* Kit.add(store, { id: "low" })
      yield* store.ack(high.id, high.token, Kit.again())
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["high", "low"])
    }))
}

const promotion = (test: Kit.Test) => {
  test("a delayed job is given from its runAt on, and not a millisecond before", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { delayMs: 1_000 })
      yield* Kit.pass(999)
      assert.strictEqual((yield* Kit.takeNothing(store)).nextRunAt, Kit.start + 1_000)
      yield* Kit.isJob(store, id, { state: "delayed" })
      yield* Kit.pass(1)
      const { job } = yield* Kit.take(store)
      assert.strictEqual(job.id, id)
      assert.strictEqual(job.runAt, Kit.start + 1_000)
    }))

  test("due jobs stand in line by their enqueue, not by their runAt", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "a", delayMs: 300 })
      yield* Kit.add(store, { id: "b", delayMs: 100 })
      yield* Kit.add(store, { id: "high", delayMs: 200, priority: 1 })
      yield* Kit.add(store, { id: "c" })
      yield* Kit.pass(300)
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["high", "a", "b", "c"])
    }))

  test("a claim moves all due jobs of its queue to waiting, also those of other names", (store) =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c"]) yield* Kit.add(store, { id, delayMs: 100 })
      yield* Kit.add(store, { id: "other name", name: "other", delayMs: 100 })
      yield* Kit.add(store, { id: "later", delayMs: 101 })
      yield* Kit.pass(100)
      yield* Kit.take(store)
      yield* Kit.areStates(store, {
        a: "active",
        b: "waiting",
        c: "waiting",
        "other name": "waiting",
        later: "delayed"
      })
    }))

  test("of very many jobs that come due together the best is found", (store) =>
    Effect.gen(function* () {
      const plain = Array.from({ length: 2_500 }, () => Kit.request({ payload: undefined, delayMs: 1_000 }))
      yield* store.enqueueMany([...plain, Kit.request({ id: "best", priority: 1, delayMs: 1_000 })])
      yield* Kit.pass(1_000)
      assert.strictEqual((yield* Kit.take(store)).id, "best")
      const { active, delayed, waiting } = yield* store.counts()
      assert.deepStrictEqual({ active, delayed, waiting }, { active: 1, delayed: 0, waiting: 2_500 })
    }))

  test("a claim leaves the due jobs of other queues delayed", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "here", delayMs: 100 })
      yield* Kit.add(store, { id: "there", queue: "other", delayMs: 100 })
      yield* Kit.pass(100)
      yield* Kit.take(store)
      yield* Kit.areStates(store, { here: "active", there: "delayed" })
      assert.deepStrictEqual(yield* Kit.takeAll(store, { queue: "other" }), ["there"])
    }))

  test("a claim of a paused queue moves its due jobs to waiting", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "job", delayMs: 100 })
      yield* store.pause(Kit.queue)
      yield* Kit.pass(100)
      assert.isUndefined((yield* Kit.takeNothing(store)).nextRunAt)
      yield* Kit.areStates(store, { job: "waiting" })
    }))
}

const nextRunAt = (test: Kit.Test) => {
  test("nextRunAt is the earliest runAt of the delayed jobs of the queue with one of the names", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { name: "a", delayMs: 3_000 })
      yield* Kit.add(store, { name: "b", delayMs: 2_000 })
      yield* Kit.add(store, { name: "c", delayMs: 1_000 })
      yield* Kit.add(store, { name: "a", queue: "other", delayMs: 500 })
      assert.strictEqual((yield* Kit.takeNothing(store, { names: ["a", "b"] })).nextRunAt, Kit.start + 2_000)
      assert.strictEqual((yield* Kit.takeNothing(store, { names: ["a"] })).nextRunAt, Kit.start + 3_000)
      assert.isUndefined((yield* Kit.takeNothing(store, { names: ["d"] })).nextRunAt)
    }))

  test("a paused queue gives Empty with its nextRunAt", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "ready" })
      yield* Kit.add(store, { delayMs: 2_000 })
      yield* store.pause(Kit.queue)
      assert.strictEqual((yield* Kit.takeNothing(store)).nextRunAt, Kit.start + 2_000)
      yield* Kit.areStates(store, { ready: "waiting" })
    }))

  test("nextRunAt follows a retry with a delay, and forgets a job that was cancelled or promoted", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, { id: "retried" })
      yield* store.ack(held.id, held.token, Kit.again(700))
      yield* Kit.add(store, { id: "late", delayMs: 900 })
      assert.strictEqual((yield* Kit.takeNothing(store)).nextRunAt, Kit.start + 700)
      yield* store.cancel("retried")
      assert.strictEqual((yield* Kit.takeNothing(store)).nextRunAt, Kit.start + 900)
      yield* store.promote("late")
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["late"])
      assert.isUndefined((yield* Kit.takeNothing(store)).nextRunAt)
    }))
}

export const claim = (test: Kit.Test) =>
  describe("claim", () => {
    basics(test)
    order(test)
    promotion(test)
    nextRunAt(test)
  })
