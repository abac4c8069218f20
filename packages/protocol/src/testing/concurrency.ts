/** Operations of many callers at once: each is atomic, so the outcome is that of some order. */
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import type { EnqueueRequest, EnqueueResult } from "../Enqueue.ts"
import type { DedupePolicy } from "../Policy.ts"
import * as Flow from "./flowKit.ts"
import * as Kit from "./kit.ts"

/** Runs an effect so many times at once. */
const atOnce = <A, E, R>(times: number, effect: (index: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(
    Array.from({ length: times }, (_, index) => index),
    effect,
    { concurrency: "unbounded" }
  )

const count = <A>(values: ReadonlyArray<A>, of: A) => values.filter((value) => value === of).length

/** Asserts that all answers name one job, one of them as the first, and that it is the only one. */
const isOneJob = Effect.fnUntraced(function* (store: Kit.Store, results: ReadonlyArray<EnqueueResult>) {
  const id = results[0]?.id
  assert.deepStrictEqual([...new Set(results.map((result) => result.id))], [id])
  assert.strictEqual(results.filter(({ duplicate }) => !duplicate).length, 1, "answers that a job is new")
  assert.deepStrictEqual(
    (yield* store.list({})).items.map((job) => job.id),
    [id]
  )
})

const under = (fields?: Partial<DedupePolicy>): Partial<EnqueueRequest> => ({ dedupe: Kit.dedupe("key", fields) })

const enqueues = (test: Kit.Test) => {
  const kinds: Record<string, (index: number) => Partial<EnqueueRequest>> = {
    "one dedupe key, ids drawn by the store": () => under(),
    "one dedupe key, ids by the callers": (index) => ({ id: `id-${index}`, ...under() }),
    "one dedupe key with a window": () => under({ ttlMs: 1_000, extend: true }),
    "one dedupe key with replace": (index) => ({ payload: index, delayMs: 1_000, ...under({ replace: true }) }),
    "one id": () => ({ id: "id" }),
    "one id and one dedupe key": () => ({ id: "id", ...under() })
  }
  for (const times of [3, 50]) {
    for (const [what, fields] of Object.entries(kinds)) {
      test(`${times} enqueues under ${what} make one job`, (store) =>
        Effect.gen(function* () {
          yield* isOneJob(store, yield* atOnce(times, (index) => store.enqueue(Kit.request(fields(index)))))
        }))
    }

    test(`${times} batches under one dedupe key make one job`, (store) =>
      Effect.gen(function* () {
        const results = yield* atOnce(times, () => store.enqueueMany([Kit.request(under()), Kit.request(under())]))
        yield* isOneJob(store, results.flat())
      }))
  }

  test("enqueues without ids make a job each, all under ids of their own", (store) =>
    Effect.gen(function* () {
      const results = yield* atOnce(50, () => store.enqueue(Kit.request()))
      assert.strictEqual(new Set(results.map(({ id }) => id)).size, 50)
      assert.isFalse(results.some(({ duplicate }) => duplicate))
      assert.strictEqual((yield* store.counts()).waiting, 50)
    }))

  test("batches in opposite orders of the same ids all end, with one job an id", (store) =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 20 }, (_, index) => `id-${index}`)
      const batch = ids.map((id) => Kit.request({ id }))
      const results = yield* atOnce(10, (index) => store.enqueueMany(index % 2 === 0 ? batch : batch.toReversed()))
      assert.strictEqual(results.flat().filter(({ duplicate }) => !duplicate).length, 20)
      assert.strictEqual((yield* store.counts()).waiting, 20)
    }))
}

const claims = (test: Kit.Test) => {
  test("claims never share a job: as many are given as there are", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(
        store,
        Array.from({ length: 30 }, (_, index) => `job-${index}`)
      )
      const results = yield* atOnce(50, () => store.claim(Kit.claimOptions()))
      const ids = results.flatMap((result) => (result._tag === "Claimed" ? [result.job.id] : []))
      assert.strictEqual(ids.length, 30)
      assert.strictEqual(new Set(ids).size, 30)
      assert.strictEqual((yield* store.counts()).active, 30)
    }))

  test("claims take the best jobs there are", (store) =>
    Effect.gen(function* () {
      for (const priority of [1, 5, 3, 2, 4]) yield* Kit.add(store, { id: `${priority}`, priority })
      const held = yield* atOnce(3, () => Kit.take(store))
      assert.deepStrictEqual(held.map(({ id }) => id).toSorted(), ["3", "4", "5"])
    }))

  test("claims with one token get one job", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c"])
      const held = yield* atOnce(20, () => Kit.take(store, { token: "one" }))
      assert.deepStrictEqual([...new Set(held.map(({ id }) => id))], ["a"])
      yield* Kit.areStates(store, { a: "active", b: "waiting", c: "waiting" })
    }))

  test("producers and takers at once: every job is given exactly once", (store) =>
    Effect.gen(function* () {
      const takers = yield* Effect.forkChild(
        atOnce(8, () =>
          Effect.gen(function* () {
            const ids: Array<string> = []
            while (true) {
              const options = Kit.claimOptions({ names: [Kit.name, "end"] })
              const result = yield* store.claim(options)
              if (result._tag === "Empty") {
                yield* store.awaitWake([Kit.queue], result.wakeToken)
                continue
              }
              yield* store.ack(result.job.id, options.token, Kit.complete())
              if (result.job.name === "end") return ids
              ids.push(result.job.id)
            }
          })
        )
      )
      const produced = yield* atOnce(40, () => Kit.add(store))
      yield* atOnce(8, () => Kit.add(store, { name: "end", priority: -1 }))
      const given = (yield* Kit.soon("the takers", Fiber.join(takers))).flat()
      assert.deepStrictEqual(given.toSorted(), produced.toSorted())
      assert.strictEqual((yield* store.counts()).completed, 48)
    }))
}

const acks = (test: Kit.Test) => {
  test("acks of different outcomes by one token: one of them ends the run", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      const outcomes = [Kit.complete(), Kit.fail(), Kit.again(), Kit.cancelled]
      const exits = yield* atOnce(4, (index) =>
        Effect.exit(store.ack(held.id, held.token, outcomes[index] ?? Kit.complete()))
      )
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
      assert.strictEqual((yield* store.getAttempts(held.id)).length, 1)
    }))

  test("the same ack many times: all succeed, and the run is written once", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, { parent: Flow.parentLink("above", "me") })
      yield* atOnce(20, () => store.ack(held.id, held.token, Kit.complete("done")))
      yield* Kit.isJob(store, held.id, { state: "completed", attemptsMade: 1, exit: "done" })
      yield* Kit.isLedger(store, held.id, [Kit.run(1, "completed", { exit: "done" })])
      assert.strictEqual((yield* store.peekOutbox({ limit: 10 })).length, 1)
    }))

  test("a cancel and an ack Complete: the job is completed, whoever was first", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* Effect.all([Effect.exit(store.cancel(held.id)), store.ack(held.id, held.token, Kit.complete())], {
        concurrency: "unbounded"
      })
      yield* Kit.isJob(store, held.id, { state: "completed", cancelRequested: false })
    }))

  test("a release and an ack: one of them ends the run", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      const [acked, released] = yield* Effect.all(
        [Effect.exit(store.ack(held.id, held.token, Kit.complete())), Effect.exit(store.release(held.id, held.token))],
        { concurrency: "unbounded" }
      )
      assert.notStrictEqual(Exit.isSuccess(acked), Exit.isSuccess(released))
      yield* Kit.isJob(store, held.id, { state: Exit.isSuccess(acked) ? "completed" : "waiting" })
    }))
}

const byHand = (test: Kit.Test) => {
  test("retry, promote, cancel, remove and cancelByDedupe act once", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "failed", { id: "retried" })
      yield* Kit.add(store, { id: "promoted", delayMs: 1_000 })
      yield* Kit.add(store, { id: "cancelled", delayMs: 1_000 })
      yield* Kit.add(store, { id: "removed", delayMs: 1_000 })
      yield* Kit.add(store, { id: "keyed", delayMs: 1_000, dedupe: Kit.dedupe("key") })
      const successes = (effect: Effect.Effect<unknown, unknown>) =>
        Effect.map(
          atOnce(10, () => Effect.exit(effect)),
          (exits) => exits.filter(Exit.isSuccess).length
        )
      assert.strictEqual(yield* successes(store.retry("retried")), 1)
      assert.strictEqual(yield* successes(store.promote("promoted")), 1)
      assert.strictEqual(yield* successes(store.cancel("cancelled")), 1)
      assert.strictEqual(count(yield* atOnce(10, () => store.remove("removed")), true), 1)
      assert.strictEqual(count(yield* atOnce(10, () => store.cancelByDedupe(Kit.name, "key")), true), 1)
      assert.strictEqual((yield* store.getAttempts("cancelled")).length, 1)
      assert.strictEqual((yield* store.getAttempts("keyed")).length, 1)
    }))

  test("recoverStalled reports a stalled job once", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c"])
      yield* atOnce(3, () => Kit.take(store, { lockDurationMs: 10 }))
      yield* Kit.pass(10)
      const reported = (yield* atOnce(10, () => store.recoverStalled({ maxStalledCount: 5 }))).flat()
      assert.deepStrictEqual(reported.map(({ id }) => id).toSorted(), ["a", "b", "c"])
      for (const id of ["a", "b", "c"]) yield* Kit.isJob(store, id, { state: "waiting", stalledCount: 1 })
    }))

  test("whoever looks meanwhile sees every job once, and in one state", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(
        store,
        Array.from({ length: 20 }, (_, index) => `job-${index}`)
      )
      const work = Effect.gen(function* () {
        const first = yield* Kit.take(store)
        yield* store.ack(first.id, first.token, Kit.again())
        const second = yield* Kit.take(store)
        yield* store.ack(second.id, second.token, Kit.complete())
      })
      const look = Effect.gen(function* () {
        const byState = yield* store.counts()
        const total = Object.values(byState).reduce((sum, each) => sum + each, 0)
        assert.strictEqual(total, 20, JSON.stringify(byState))
        const { items } = yield* store.list({})
        assert.strictEqual(new Set(items.map(({ id }) => id)).size, 20)
        assert.lengthOf(items, 20)
      })
      yield* atOnce(40, (index) => (index % 2 === 0 ? work : Effect.repeat(look, { times: 3 })))
      assert.strictEqual((yield* store.counts()).completed, 20)
    }))

  test("an enqueue that is interrupted happens wholly or not at all", (store) =>
    Effect.gen(function* () {
      for (let round = 0; round < 30; round++) {
        const dedupe = Kit.dedupe(`key-${round}`)
        const first = yield* Effect.forkChild(store.enqueue(Kit.request({ id: `first-${round}`, dedupe })))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(first)
        // A call that is under way may still arrive after this one, which then holds the key.
        const second = yield* store.enqueue(Kit.request({ id: `second-${round}`, dedupe }))
        const kept = second.duplicate ? `first-${round}` : `second-${round}`
        assert.strictEqual(second.id, kept)
        yield* Kit.isJob(store, kept, { state: "waiting", dedupeKey: dedupe.key })
        yield* Kit.isGone(store, second.duplicate ? `second-${round}` : `first-${round}`)
      }
    }))
}

export const concurrency = (test: Kit.Test) =>
  describe("concurrency", () => {
    enqueues(test)
    claims(test)
    acks(test)
    byHand(test)
  })
