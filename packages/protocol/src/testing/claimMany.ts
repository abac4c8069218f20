/** Taking many jobs by one call: as if `claim` were called once a token, in one step, until one finds nothing. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Flow from "./flowKit.ts"
import * as Kit from "./kit.ts"

const taking = (test: Kit.Test) => {
  test("gives a job to each token, in their order, each record as it is kept", (store) =>
    Effect.gen(function* () {
      const requests = ["a", "b", "c"].map((id) => Kit.request({ id, payload: { id }, metadata: { of: id } }))
      yield* store.enqueueMany(requests)
      yield* Kit.pass(250)
      const answer = yield* store.claimMany(Kit.claimManyOptions({ tokens: ["t3", "t1", "t2"] }))
      assert.deepStrictEqual(answer, {
        jobs: requests.map((request, index) => ({
          token: ["t3", "t1", "t2"][index] ?? "",
          job: { ...Kit.recordOf(request.id ?? "", request), state: "active" as const, processedAt: Kit.start + 250 }
        })),
        empty: undefined
      })
      for (const { job } of answer.jobs) assert.deepStrictEqual(yield* Kit.find(store, job.id), job)
    }))

  test("each job is held by its own token, and by no other of the call", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b"])
      const { held } = yield* Kit.takeMany(store, { tokens: ["t1", "t2"] })
      const crossed = [
        { id: "a", token: "t2" },
        { id: "b", token: "t1" }
      ]
      assert.deepStrictEqual((yield* store.extendLocks(crossed, 1_000)).lost, ["a", "b"])
      yield* Kit.failsWith(store.ack("a", "t2", Kit.complete()), "LockLostError")
      assert.deepStrictEqual((yield* store.extendLocks(held, 1_000)).lost, [])
      yield* store.ack("b", "t2", Kit.complete())
      yield* store.release("a", "t1")
      yield* Kit.areStates(store, { a: "waiting", b: "completed" })
    }))

  test("one token is one claim", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b"])
      assert.deepStrictEqual((yield* Kit.takeMany(store, { tokens: ["t"] })).ids, ["a"])
      yield* Kit.areStates(store, { a: "active", b: "waiting" })
    }))

  test("the highest priority is first, then the first in line, as for single claims", (store) =>
    Effect.gen(function* () {
      for (const [index, priority] of [0, -1, 10, 9, 0, 10].entries()) {
        yield* Kit.add(store, { id: `${priority}/${index}`, priority })
      }
      const { ids } = yield* Kit.takeMany(store, { tokens: Kit.tokens(4) })
      assert.deepStrictEqual(ids, ["10/2", "10/5", "9/3", "0/0"])
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["0/4", "-1/1"])
    }))

  test("only jobs of the queue with one of the names are given", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "other queue", queue: "other", priority: 9 })
      for (const [id, name] of ["ax", "by", "cz", "dx"].map((id) => [id, id.slice(1)] as const)) {
        yield* Kit.add(store, { id, name })
      }
      const { empty, ids } = yield* Kit.takeMany(store, { names: ["y", "x"], tokens: Kit.tokens(9) })
      assert.deepStrictEqual(ids, ["ax", "by", "dx"])
      assert.isDefined(empty)
      assert.deepStrictEqual((yield* Kit.takeMany(store, { names: [] })).ids, [])
      yield* Kit.areStates(store, { "other queue": "waiting", cz: "waiting" })
    }))

  test("every lease lasts for lockDurationMs", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b"])
      yield* Kit.takeMany(store, { lockDurationMs: 1_000 })
      yield* Kit.pass(999)
      assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 9 }), [])
      yield* Kit.pass(1)
      const recovered = yield* store.recoverStalled({ maxStalledCount: 9 })
      assert.deepStrictEqual(recovered.map(({ id }) => id).toSorted(), ["a", "b"])
    }))

  test("a flow parent that is runnable is given with its flow, to collect", (store) =>
    Effect.gen(function* () {
      const parent = yield* Flow.addParent(store, ["a"])
      yield* Flow.records(store, [Flow.report(parent.id, "a", "completed")], [Flow.settled])
      const { held } = yield* Kit.takeMany(store)
      assert.deepStrictEqual(held[0]?.job.flow, Flow.flow({ completed: 1 }))
    }))
}

const emptiness = (test: Kit.Test) => {
  test("with fewer jobs than tokens it gives those there are, and says what an empty claim says", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b"])
      yield* Kit.add(store, { delayMs: 3_000 })
      yield* Kit.add(store, { delayMs: 2_000 })
      yield* Kit.add(store, { name: "other", delayMs: 1_000 })
      const { empty, ids } = yield* Kit.takeMany(store, { tokens: Kit.tokens(5) })
      assert.deepStrictEqual(ids, ["a", "b"])
      assert.strictEqual(empty?.nextRunAt, Kit.start + 2_000)
    }))

  test("with nothing to give it gives nothing, and a token for awaitWake", (store) =>
    Effect.gen(function* () {
      const { answer, empty } = yield* Kit.takeMany(store)
      assert.deepStrictEqual(answer.jobs, [])
      assert.isUndefined(empty?.nextRunAt)
      yield* Kit.add(store)
      yield* Kit.isWoken(store, [Kit.queue], empty?.wakeToken ?? "")
    }))

  test("what becomes claimable between the answer and the wait ends the wait", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a"])
      const { empty, held } = yield* Kit.takeMany(store)
      yield* Effect.forEach(held, ({ id, token }) => store.release(id, token))
      yield* Kit.isWoken(store, [Kit.queue], empty?.wakeToken ?? "")
    }))

  test("with as many jobs as tokens it says nothing of emptiness", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c"])
      const { answer, ids } = yield* Kit.takeMany(store)
      assert.deepStrictEqual(ids, ["a", "b", "c"])
      assert.isUndefined(answer.empty)
    }))

  test("tokens behind the one that found nothing are not used: they claim later like new ones", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "first" })
      yield* Kit.takeMany(store, { tokens: ["t1", "t2", "t3"] })
      yield* Kit.addAll(store, ["second", "third"])
      assert.strictEqual((yield* Kit.take(store, { token: "t3" })).id, "second")
      assert.strictEqual((yield* Kit.take(store, { token: "t2" })).id, "third")
    }))

  test("a paused queue gives nothing, and moves its due jobs to waiting", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "ready" })
      yield* Kit.add(store, { id: "due", delayMs: 100 })
      yield* Kit.add(store, { id: "later", delayMs: 200 })
      yield* store.pause(Kit.queue)
      yield* Kit.pass(100)
      const { empty, ids } = yield* Kit.takeMany(store)
      assert.deepStrictEqual(ids, [])
      assert.strictEqual(empty?.nextRunAt, Kit.start + 200)
      yield* Kit.areStates(store, { ready: "waiting", due: "waiting", later: "delayed" })
    }))
}

const promotion = (test: Kit.Test) => {
  test("due jobs are given too, in their places in line", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "a", delayMs: 300 })
      yield* Kit.add(store, { id: "b" })
      yield* Kit.add(store, { id: "c", delayMs: 100 })
      yield* Kit.add(store, { id: "high", delayMs: 200, priority: 1 })
      yield* Kit.add(store, { id: "later", delayMs: 301 })
      yield* Kit.pass(300)
      const { empty, ids } = yield* Kit.takeMany(store, { tokens: Kit.tokens(9) })
      assert.deepStrictEqual(ids, ["high", "a", "b", "c"])
      assert.strictEqual(empty?.nextRunAt, Kit.start + 301)
    }))

  test("all due jobs of the queue become waiting, also those that are not given", (store) =>
    Effect.gen(function* () {
      for (const id of ["a", "b", "c"]) yield* Kit.add(store, { id, delayMs: 100 })
      yield* Kit.add(store, { id: "other name", name: "other", delayMs: 100 })
      yield* Kit.pass(100)
      yield* Kit.takeMany(store, { tokens: ["t1", "t2"] })
      yield* Kit.areStates(store, { a: "active", b: "active", c: "waiting", "other name": "waiting" })
    }))

  test("a due job that is not given wakes whoever waits for it", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "a", delayMs: 100 })
      yield* Kit.add(store, { id: "b", delayMs: 100 })
      const { wakeToken } = yield* Kit.takeNothing(store)
      const waiting = yield* Effect.forkChild(store.awaitWake([Kit.queue], wakeToken), { startImmediately: true })
      yield* Kit.pass(100)
      assert.deepStrictEqual((yield* Kit.takeMany(store, { tokens: ["t"] })).ids, ["a"])
      yield* Kit.soon("a wait for a job that came due", Fiber.join(waiting))
    }))

  test("of very many jobs that come due together the best are given", (store) =>
    Effect.gen(function* () {
      const plain = Array.from({ length: 2_500 }, () => Kit.request({ payload: undefined, delayMs: 1_000 }))
      const best = ["x", "y"].map((id) => Kit.request({ id, priority: 1, delayMs: 1_000 }))
      yield* store.enqueueMany([...plain, ...best])
      yield* Kit.pass(1_000)
      assert.deepStrictEqual((yield* Kit.takeMany(store, { tokens: ["t1", "t2"] })).ids, ["x", "y"])
      const { active, delayed, waiting } = yield* store.counts()
      assert.deepStrictEqual({ active, delayed, waiting }, { active: 2, delayed: 0, waiting: 2_500 })
    }))
}

export const claimMany = (test: Kit.Test) =>
  describe("claimMany", () => {
    taking(test)
    emptiness(test)
    promotion(test)
  })
