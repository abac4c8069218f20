/** Ending many runs by one call: each as if it were acked alone, in order, and answered in its place. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { AckOutcome } from "../Claim.ts"
import { JobNotFoundError, JobStoreError, LockLostError } from "../Errors.ts"
import * as Limits from "../Limits.ts"
import * as Flow from "./flowKit.ts"
import * as Kit from "./kit.ts"
import { picture } from "./world.ts"

/** Jobs with these ids, each claimed under a token of its own. */
const hold = Effect.fnUntraced(function* (
  store: Kit.Store,
  ids: ReadonlyArray<string>,
  fields?: Parameters<typeof Kit.add>[1]
) {
  yield* Kit.addAll(store, ids, fields)
  const { held } = yield* Kit.takeMany(store, { tokens: Kit.tokens(ids.length) })
  assert.deepStrictEqual(
    held.map(({ id }) => id),
    ids
  )
  return held
})

const outcomes: Record<string, AckOutcome> = {
  completed: Kit.complete({ done: true }),
  empty: Kit.complete(),
  failed: Kit.fail("broken"),
  retried: Kit.again(0, "soft"),
  delayed: Kit.again(5_000, null),
  cancelled: Kit.cancelled,
  parent: Flow.fanOut([Flow.child("parent", "a"), Flow.child("parent", "b")]),
  childless: Flow.fanOut([])
}

const alone = (test: Kit.Test) => {
  test("every outcome does what it does by ack", (store) =>
    Effect.gen(function* () {
      const held = yield* hold(store, Object.keys(outcomes))
      yield* Kit.pass(10)
      const results = yield* store.ackMany(held.map((each) => Kit.ackOf(each, outcomes[each.id])))
      assert.deepStrictEqual(
        results,
        held.map(() => ({ _tag: "Acked" }))
      )
      const finishedAt = Kit.start + 10
      yield* Kit.isJob(store, "completed", { state: "completed", exit: { done: true }, attemptsMade: 1, finishedAt })
      yield* Kit.isJob(store, "empty", { state: "completed", exit: undefined, attemptsMade: 1, finishedAt })
      yield* Kit.isJob(store, "failed", { state: "failed", exit: "broken", attemptsMade: 1, finishedAt })
      yield* Kit.isJob(store, "retried", { state: "waiting", exit: undefined, attemptsMade: 1, runAt: finishedAt })
      yield* Kit.isJob(store, "delayed", { state: "delayed", attemptsMade: 1, runAt: finishedAt + 5_000 })
      yield* Kit.isJob(store, "cancelled", { state: "cancelled", attemptsMade: 1, finishedAt })
      yield* Kit.isJob(store, "parent", { state: "waiting-children", attemptsMade: 0, flow: Flow.flow({ pending: 2 }) })
      yield* Kit.isJob(store, "childless", { state: "waiting", attemptsMade: 0, flow: Flow.flow() })
      yield* Flow.areRows(store, "parent", [Flow.row("parent", "a"), Flow.row("parent", "b")])
      yield* Kit.isLedger(store, "retried", [Kit.run(1, "retried", { finishedAt, exit: "soft" })])
      yield* Kit.isLedger(store, "parent", [Kit.run(1, "fanned-out", { finishedAt })])
      assert.strictEqual((yield* store.counts()).active, 0)
    }))

  test("answers by position, and no ack is lost by the error of another", (store) =>
    Effect.gen(function* () {
      const [a, b, c] = yield* hold(store, ["a", "b", "c"])
      const waiting = yield* Kit.add(store, { id: "waiting" })
      assert(a !== undefined && b !== undefined && c !== undefined)
      const results = yield* store.ackMany([
        { id: "unknown", token: a.token, outcome: Kit.complete() },
        Kit.ackOf(a),
        { id: "b", token: a.token, outcome: Kit.complete() },
        { id: waiting, token: b.token, outcome: Kit.complete() },
        Kit.ackOf(c, Kit.complete({ when: new Date(0) })),
        Kit.ackOf(b, Kit.fail(1))
      ])
      assert.deepStrictEqual(Kit.brief(results), [
        "JobNotFoundError unknown",
        "Acked",
        "LockLostError b",
        "LockLostError waiting",
        "InvalidArgument outcome.exit.when",
        "Acked"
      ])
      assert.instanceOf(results[0], JobNotFoundError)
      assert.instanceOf(results[2], LockLostError)
      assert.instanceOf(results[4], JobStoreError)
      yield* Kit.areStates(store, { a: "completed", b: "failed", c: "active", waiting: "waiting" })
    }))

  test("what is refused is told as by ack, and changes nothing", (store) =>
    Effect.gen(function* () {
      const [held] = yield* hold(store, ["held"])
      assert(held !== undefined)
      const child = Flow.child("held", "a")
      const bad = [
        Kit.complete("x".repeat(Limits.defaults.exitBytes)),
        Kit.again(Number.NaN),
        Flow.fanOut([child, child]),
        Flow.fanOut([{ ...child, request: Kit.request() }])
      ]
      const before = yield* picture(store)
      const results = yield* store.ackMany(bad.map((outcome) => Kit.ackOf(held, outcome)))
      for (const [index, outcome] of bad.entries()) {
        const alone = yield* Kit.failsWith(store.ack(held.id, held.token, outcome), "JobStoreError")
        const result = results[index]
        assert(result instanceof JobStoreError, `result ${index} is ${JSON.stringify(result)}`)
        assert.deepStrictEqual(result.reason, alone.reason)
        assert.strictEqual(result.message, alone.message)
      }
      assert.deepStrictEqual(yield* picture(store), before)
    }))

  test("nothing in, nothing out", (store) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* store.ackMany([]), [])
    }))

  test("a long list is answered by position", (store) =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 1_300 }, (_, index) => `job-${index}`)
      yield* store.enqueueMany(ids.map((id) => Kit.request({ id })))
      const first = yield* Kit.takeMany(store, { tokens: Kit.tokens(1_000) })
      const second = yield* Kit.takeMany(store, { tokens: Kit.tokens(300) })
      const held = [...first.held, ...second.held]
      const results = yield* store.ackMany(
        held.map(({ id, token }, index) => ({
          id,
          token: index % 2 === 1 ? "another" : token,
          outcome: Kit.complete()
        }))
      )
      assert.deepStrictEqual(
        Kit.brief(results),
        ids.map((id, index) => (index % 2 === 1 ? `LockLostError ${id}` : "Acked"))
      )
      const { active, completed } = yield* store.counts()
      assert.deepStrictEqual({ active, completed }, { active: 650, completed: 650 })
    }))
}

const inOrder = (test: Kit.Test) => {
  test("those that run again go to the back of the line in the order of their acks", (store) =>
    Effect.gen(function* () {
      const held = yield* hold(store, ["a", "b", "c", "d"])
      yield* Kit.add(store, { id: "behind" })
      const [a, b, c, d] = held
      assert(a !== undefined && b !== undefined && c !== undefined && d !== undefined)
      yield* store.ackMany([
        Kit.ackOf(c, Kit.again()),
        Kit.ackOf(a, Flow.fanOut([])),
        Kit.ackOf(d, Kit.again(1)),
        Kit.ackOf(b, Kit.again())
      ])
      yield* Kit.pass(1)
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["behind", "c", "a", "d", "b"])
    }))

  test("a job that is acked twice is answered as by two acks in a row", (store) =>
    Effect.gen(function* () {
      const [a, b] = yield* hold(store, ["a", "b"])
      assert(a !== undefined && b !== undefined)
      const results = yield* store.ackMany([
        Kit.ackOf(a, Kit.complete(1)),
        Kit.ackOf(b, Kit.again()),
        Kit.ackOf(a, Kit.complete(1)),
        Kit.ackOf(a, Kit.complete(2)),
        Kit.ackOf(b, Kit.again()),
        Kit.ackOf(b, Kit.fail())
      ])
      assert.deepStrictEqual(Kit.brief(results), [
        "Acked",
        "Acked",
        "Acked",
        "LockLostError a",
        "Acked",
        "LockLostError b"
      ])
      yield* Kit.isLedger(store, "a", [Kit.run(1, "completed", { exit: 1 })])
      yield* Kit.isLedger(store, "b", [Kit.run(1, "retried")])
    }))

  test("keep applies after each ack, so a job may be gone when its own second ack comes", (store) =>
    Effect.gen(function* () {
      const keep = { completed: { count: 1, ageMs: undefined }, failed: undefined, cancelled: undefined }
      const held = yield* hold(store, ["a", "b", "c"], { keep })
      const acks = held.map((each) => Kit.ackOf(each))
      assert.deepStrictEqual(Kit.brief(yield* store.ackMany([...acks, ...acks])), [
        "Acked",
        "Acked",
        "Acked",
        "JobNotFoundError a",
        "JobNotFoundError b",
        "Acked"
      ])
      yield* Kit.areStates(store, { a: "gone", b: "gone", c: "completed" })
      assert.strictEqual((yield* store.counts()).completed, 1)
    }))
}

const around = (test: Kit.Test) => {
  test("terminal outcomes free their dedupe keys, and Retry keeps its own", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "done", dedupe: Kit.dedupe("k1") })
      yield* Kit.add(store, { id: "again", dedupe: Kit.dedupe("k2") })
      const { held } = yield* Kit.takeMany(store, { tokens: Kit.tokens(2) })
      yield* store.ackMany(held.map((each) => Kit.ackOf(each, each.id === "done" ? Kit.fail() : Kit.again())))
      const next = yield* store.enqueueMany([
        Kit.request({ id: "new", dedupe: Kit.dedupe("k1") }),
        Kit.request({ dedupe: Kit.dedupe("k2") })
      ])
      assert.deepStrictEqual(next, [
        { id: "new", duplicate: false },
        { id: "again", duplicate: true }
      ])
    }))

  test("the outbox gets a report of each child, in the order of the acks", (store) =>
    Effect.gen(function* () {
      for (const key of ["a", "b", "c"]) {
        yield* Kit.add(store, { id: key, parent: Flow.parentLink("far", key) })
      }
      const { held } = yield* Kit.takeMany(store)
      const ends = { a: Kit.complete(1), b: Kit.again(), c: Kit.fail("no") }
      const acks = held.map((each) => Kit.ackOf(each, ends[each.id as keyof typeof ends]))
      yield* store.ackMany(acks.toReversed())
      yield* store.ackMany(acks)
      assert.deepStrictEqual(
        (yield* store.peekOutbox({ limit: 9 })).map(({ report }) => report),
        [Flow.report("far", "c", "failed", { exit: "no" }), Flow.report("far", "a", "completed", { exit: 1 })]
      )
    }))

  test("a cancel that was requested is weighed for each: Complete and Fail win, Retry and FanOut give way", (store) =>
    Effect.gen(function* () {
      const held = yield* hold(store, ["completed", "failed", "retried", "parent"])
      yield* Effect.forEach(held, ({ id }) => store.cancel(id))
      yield* store.ackMany(held.map((each) => Kit.ackOf(each, outcomes[each.id])))
      yield* Kit.areStates(store, {
        completed: "completed",
        failed: "failed",
        retried: "cancelled",
        parent: "cancelled"
      })
      yield* Flow.areRows(store, "parent", [Flow.owed("parent", "a"), Flow.owed("parent", "b")])
    }))

  test("a job that runs again wakes whoever waits for it", (store) =>
    Effect.gen(function* () {
      const held = yield* hold(store, ["a", "b"])
      const { wakeToken } = yield* Kit.takeNothing(store)
      yield* store.ackMany(held.map((each) => Kit.ackOf(each, each.id === "a" ? Kit.complete() : Kit.again())))
      yield* Kit.isWoken(store, [Kit.queue], wakeToken)
    }))
}

const replay = (test: Kit.Test) => {
  test("the same call again is answered as before, and changes nothing", (store) =>
    Effect.gen(function* () {
      const held = yield* hold(store, Object.keys(outcomes), { parent: Flow.parentLink("above", "key") })
      const acks = [
        ...held.map((each) => Kit.ackOf(each, outcomes[each.id])),
        { id: "unknown", token: "t", outcome: Kit.cancelled },
        { id: "completed", token: "t", outcome: Kit.cancelled }
      ]
      const first = yield* store.ackMany(acks)
      const before = yield* picture(store)
      yield* Kit.pass(1_000)
      assert.deepStrictEqual(Kit.brief(yield* store.ackMany(acks)), Kit.brief(first))
      assert.deepStrictEqual(Kit.brief(yield* store.ackMany(acks.toReversed())), Kit.brief(first).toReversed())
      assert.deepStrictEqual(yield* picture(store), before)
    }))

  test("ack and ackMany know each other's acks", (store) =>
    Effect.gen(function* () {
      const [a, b] = yield* hold(store, ["a", "b"])
      assert(a !== undefined && b !== undefined)
      yield* store.ack("a", a.token, Kit.complete({ x: 1, y: 2 }))
      const results = yield* store.ackMany([Kit.ackOf(a, Kit.complete({ y: 2, x: 1 })), Kit.ackOf(b, Kit.fail(null))])
      assert.deepStrictEqual(Kit.brief(results), ["Acked", "Acked"])
      yield* store.ack("b", b.token, Kit.fail(null))
      yield* Kit.failsWith(store.ack("b", b.token, Kit.fail()), "LockLostError")
    }))

  test("calls at once with the same acks are all answered as done, and each run ends once", (store) =>
    Effect.gen(function* () {
      const held = yield* hold(store, ["a", "b", "c"])
      const acks = held.map((each) => Kit.ackOf(each, Kit.again(1_000)))
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, (_, index) => store.ackMany(index % 2 === 0 ? acks : acks.toReversed())),
        { concurrency: "unbounded" }
      )
      for (const answer of answers) assert.deepStrictEqual(Kit.brief(answer), ["Acked", "Acked", "Acked"])
      for (const { id } of held) yield* Kit.isLedger(store, id, [Kit.run(1, "retried")])
    }))
}

export const ackMany = (test: Kit.Test) =>
  describe("ackMany", () => {
    alone(test)
    inOrder(test)
    around(test)
    replay(test)
  })
