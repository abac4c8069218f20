/** An ack whose answer was lost is sent again: the ledger remembers the token of each run. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { AckOutcome } from "../Claim.ts"
import * as Flow from "./flowKit.ts"
import * as Kit from "./kit.ts"

const outcomes: ReadonlyArray<AckOutcome> = [
  Kit.complete({ done: true }),
  Kit.fail("broken"),
  Kit.again(0, "soft"),
  Kit.again(5_000, "soft"),
  Kit.cancelled,
  Flow.fanOut([]),
  Flow.fanOut([Flow.child("job", "a"), Flow.child("job", "b")])
]

const nameOf = (outcome: AckOutcome): string => {
  switch (outcome._tag) {
    case "Retry":
      return `Retry with a delay of ${outcome.delayMs}`
    case "FanOut":
      return `FanOut into ${outcome.children.length} children`
    default:
      return outcome._tag
  }
}

/** All that can be seen of a job: its record, ledger, dependency rows, and the outbox. */
const seen = (store: Kit.Store, id: string) =>
  Effect.all({
    job: Kit.find(store, id),
    ledger: store.getAttempts(id),
    rows: store.listChildResults(id),
    outbox: store.peekOutbox({ limit: 100 })
  })

const same = (test: Kit.Test) => {
  for (const outcome of outcomes) {
    test(`${nameOf(outcome)} again by its token is a success that changes nothing`, (store) =>
      Effect.gen(function* () {
        const held = yield* Kit.addAndTake(store, { id: "job", parent: Flow.parentLink("above", "job") })
        yield* store.ack(held.id, held.token, outcome)
        const before = yield* seen(store, held.id)
        yield* Kit.pass(1_000)
        yield* store.ack(held.id, held.token, outcome)
        yield* store.ack(held.id, held.token, outcome)
        assert.deepStrictEqual(yield* seen(store, held.id), before)
      }))

    test(`after ${nameOf(outcome)} the same token with another outcome is LockLostError`, (store) =>
      Effect.gen(function* () {
        const held = yield* Kit.addAndTake(store, { id: "job" })
        yield* store.ack(held.id, held.token, outcome)
        const before = yield* seen(store, held.id)
        const others = [Kit.complete(), Kit.fail(), Kit.again(), Kit.cancelled, Flow.fanOut([])]
        for (const other of others.filter(({ _tag }) => _tag !== outcome._tag)) {
          const error = yield* Kit.failsWith(store.ack(held.id, held.token, other), "LockLostError")
          assert.strictEqual(error.jobId, held.id)
        }
        assert.deepStrictEqual(yield* seen(store, held.id), before)
      }))

    test(`after ${nameOf(outcome)} another token with the same outcome is LockLostError`, (store) =>
      Effect.gen(function* () {
        const held = yield* Kit.addAndTake(store, { id: "job" })
        yield* store.ack(held.id, held.token, outcome)
        yield* Kit.failsWith(store.ack(held.id, Kit.unique("stranger"), outcome), "LockLostError")
      }))
  }
}

const later = (test: Kit.Test) => {
  test("every run is remembered: the ack of an earlier one is a success while a later one goes on", (store) =>
    Effect.gen(function* () {
      const first = yield* Kit.addAndTake(store)
      yield* store.ack(first.id, first.token, Kit.again(0, 1))
      const second = yield* Kit.take(store)
      yield* store.ack(second.id, second.token, Kit.again(0, 2))
      const third = yield* Kit.take(store)
      yield* store.ack(first.id, first.token, Kit.again(0, 1))
      yield* store.ack(second.id, second.token, Kit.again(0, 2))
      assert.deepStrictEqual(yield* Kit.find(store, first.id), third.job)
      yield* Kit.failsWith(store.ack(first.id, first.token, Kit.complete()), "LockLostError")
      yield* store.ack(third.id, third.token, Kit.complete(3))
      yield* store.ack(first.id, first.token, Kit.again(0, 1))
      yield* store.ack(third.id, third.token, Kit.complete(3))
      yield* Kit.isJob(store, first.id, { state: "completed", attemptsMade: 3, exit: 3 })
      yield* Kit.isLedger(store, first.id, [
        Kit.run(1, "retried", { exit: 1 }),
        Kit.run(2, "retried", { exit: 2 }),
        Kit.run(3, "completed", { exit: 3 })
      ])
    }))

  test("an ack of Fail again does not undo a retry by hand", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* store.ack(held.id, held.token, Kit.fail())
      yield* store.retry(held.id)
      yield* store.ack(held.id, held.token, Kit.fail())
      yield* Kit.isJob(store, held.id, { state: "waiting", attemptsMade: 0 })
      assert.strictEqual((yield* Kit.take(store)).id, held.id)
    }))

  test("a Retry that a cancel request turned into cancelled is remembered as Retry", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* store.cancel(held.id)
      yield* store.ack(held.id, held.token, Kit.again())
      yield* store.ack(held.id, held.token, Kit.again())
      yield* Kit.isJob(store, held.id, { state: "cancelled", attemptsMade: 1 })
    }))

  test("a FanOut that a cancel request turned into cancelled is remembered as FanOut", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, { id: "job" })
      const outcome = Flow.fanOut([Flow.child("job", "a")])
      yield* store.cancel(held.id)
      yield* store.ack(held.id, held.token, outcome)
      const before = yield* seen(store, held.id)
      yield* store.ack(held.id, held.token, outcome)
      assert.deepStrictEqual(yield* seen(store, held.id), before)
    }))

  test("a FanOut again does not undo what its children reported since", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, { id: "job" })
      const outcome = Flow.fanOut([Flow.child("job", "a"), Flow.child("job", "b")])
      yield* store.ack(held.id, held.token, outcome)
      yield* Flow.records(store, [Flow.report("job", "a", "completed")], [Flow.applied])
      yield* store.ack(held.id, held.token, outcome)
      yield* Flow.isParent(store, "job", "waiting-children", Flow.flow({ pending: 1, completed: 1 }))
      yield* Flow.records(store, [Flow.report("job", "b", "completed")], [Flow.settled])
      yield* store.ack(held.id, held.token, outcome)
      yield* Flow.isParent(store, "job", "waiting", Flow.flow({ completed: 2 }))
    }))

  test("a run that was released or recovered is not settled: its token is LockLostError", (store) =>
    Effect.gen(function* () {
      const released = yield* Kit.addAndTake(store)
      yield* store.release(released.id, released.token)
      yield* Kit.failsWith(store.ack(released.id, released.token, Kit.complete()), "LockLostError")
      const recovered = yield* Kit.take(store, { lockDurationMs: 10 })
      yield* Kit.pass(10)
      yield* store.recoverStalled({ maxStalledCount: 0 })
      for (const outcome of [Kit.fail(), Kit.again(), Kit.complete()]) {
        yield* Kit.failsWith(store.ack(recovered.id, recovered.token, outcome), "LockLostError")
      }
    }))

  test("an ack again does not count or prune a second time", (store) =>
    Effect.gen(function* () {
      const keep = { completed: { count: 1, ageMs: undefined }, failed: undefined, cancelled: undefined }
      const first = yield* Kit.addAndTake(store, { id: "first", keep })
      yield* store.ack(first.id, first.token, Kit.complete())
      yield* Kit.pass(10)
      yield* Kit.addFinished(store, "completed", { id: "second" })
      yield* store.ack(first.id, first.token, Kit.complete())
      yield* Kit.areStates(store, { first: "completed", second: "completed" })
      assert.strictEqual((yield* store.counts()).completed, 2)
    }))

  test("when the job is gone its ack is JobNotFoundError", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store)
      yield* store.ack(held.id, held.token, Kit.complete())
      yield* store.remove(held.id)
      yield* Kit.failsWith(store.ack(held.id, held.token, Kit.complete()), "JobNotFoundError")
    }))

  test("a job of the same id that was enqueued anew does not remember the old one's runs", (store) =>
    Effect.gen(function* () {
      const held = yield* Kit.addAndTake(store, { id: "job" })
      yield* store.ack(held.id, held.token, Kit.complete())
      yield* store.remove("job")
      yield* Kit.add(store, { id: "job" })
      yield* Kit.failsWith(store.ack("job", held.token, Kit.complete()), "LockLostError")
      yield* Kit.isJob(store, "job", { state: "waiting" })
    }))
}

export const ackReplay = (test: Kit.Test) =>
  describe("ack: replay", () => {
    same(test)
    later(test)
  })
