/** The ledger of a job's runs. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { addParent, applied, collect, fanOut, records, report, settled } from "./flowKit.ts"
import * as Kit from "./kit.ts"

const entries = (test: Kit.Test) => {
  test("an unknown job has an empty ledger", (store) => Kit.isLedger(store, "unknown", []))

  test("a job that has not run has an empty ledger", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store)
      yield* Kit.isLedger(store, id, [])
      yield* Kit.take(store)
      yield* Kit.isLedger(store, id, [])
    }))

  test("an entry says when the run was claimed, when it ended, and how", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store)
      yield* Kit.pass(100)
      const { token } = yield* Kit.take(store)
      yield* Kit.pass(250)
      yield* store.ack(id, token, Kit.complete({ words: 7 }))
      yield* Kit.pass(1000)
      yield* Kit.isLedger(store, id, [
        Kit.run(1, "completed", {
          startedAt: Kit.start + 100,
          finishedAt: Kit.start + 350,
          exit: { words: 7 }
        })
      ])
    }))

  const ends = [
    { outcome: "completed", ack: Kit.complete("exit"), exit: "exit" },
    { outcome: "failed", ack: Kit.fail("exit"), exit: "exit" },
    { outcome: "retried", ack: Kit.again(0, "exit"), exit: "exit" },
    { outcome: "cancelled", ack: Kit.cancelled, exit: undefined },
    { outcome: "fanned-out", ack: fanOut([]), exit: undefined }
  ] as const

  for (const { ack, exit, outcome } of ends) {
    test(`ack ${ack._tag} writes one entry, ${outcome}`, (store) =>
      Effect.gen(function* () {
        const { id, token } = yield* Kit.addAndTake(store)
        yield* store.ack(id, token, ack)
        yield* Kit.isLedger(store, id, [Kit.run(1, outcome, { exit })])
      }))
  }

  test("an exit that is absent stays absent, and null stays null", (store) =>
    Effect.gen(function* () {
      for (const exit of [undefined, null]) {
        const { id, token } = yield* Kit.addAndTake(store)
        yield* store.ack(id, token, Kit.again(0, exit))
        const held = yield* Kit.take(store)
        yield* store.ack(id, held.token, Kit.fail(exit))
        yield* Kit.isLedger(store, id, [Kit.run(1, "retried", { exit }), Kit.run(2, "failed", { exit })])
      }
    }))

  test("a lease that ran out has an entry, stalled, that ends when it was recovered", (store) =>
    Effect.gen(function* () {
      const { id } = yield* Kit.addAndTake(store, {}, { lockDurationMs: 1000 })
      yield* Kit.pass(1500)
      yield* store.recoverStalled({ maxStalledCount: 1 })
      yield* Kit.isLedger(store, id, [Kit.run(1, "stalled", { finishedAt: Kit.start + 1500 })])
    }))

  test("a cancel of a job that never ran has an entry without a beginning", (store) =>
    Effect.gen(function* () {
      for (const delayMs of [0, 1000]) {
        const id = yield* Kit.add(store, { delayMs })
        yield* store.cancel(id)
        yield* Kit.isLedger(store, id, [Kit.run(1, "cancelled", { startedAt: undefined })])
      }
    }))

  test("a fail-fast settle has an entry, failed, without an exit", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"], { failFast: true })
      yield* Kit.pass(700)
      yield* records(store, [report(id, "a", "failed")], [settled])
      const [first, second, ...rest] = yield* store.getAttempts(id)
      assert.deepStrictEqual(first, Kit.run(1, "fanned-out"))
      assert.deepInclude(second, { attempt: 2, outcome: "failed", finishedAt: Kit.start + 700, exit: undefined })
      assert.isEmpty(rest)
    }))

  test("release writes no entry and the next run takes the number", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store)
      yield* store.release(id, token)
      yield* Kit.isLedger(store, id, [])
      yield* Kit.pass(100)
      const held = yield* Kit.take(store)
      yield* store.ack(id, held.token, Kit.complete())
      const now = Kit.start + 100
      yield* Kit.isLedger(store, id, [Kit.run(1, "completed", { startedAt: now, finishedAt: now })])
    }))
}

const numbering = (test: Kit.Test) => {
  test("entries are numbered from 1 and come oldest first, also beyond nine", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store)
      for (let index = 0; index < 12; index++) {
        const { token } = yield* Kit.take(store)
        yield* store.ack(id, token, Kit.again(0, index))
      }
      const expected = Array.from({ length: 12 }, (_, index) => Kit.run(index + 1, "retried", { exit: index }))
      yield* Kit.isLedger(store, id, expected)
    }))

  test("numbers are never reset: retry keeps the ledger and goes on counting", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.addFinished(store, "failed")
      yield* store.retry(id)
      yield* Kit.isLedger(store, id, [Kit.run(1, "failed", { exit: "broken" })])
      const { job, token } = yield* Kit.take(store)
      assert.strictEqual(job.attemptsMade, 0)
      yield* store.ack(id, token, Kit.complete("done"))
      yield* Kit.isLedger(store, id, [
        Kit.run(1, "failed", { exit: "broken" }),
        Kit.run(2, "completed", { exit: "done" })
      ])
    }))

  test("stalls and runs are numbered together", (store) =>
    Effect.gen(function* () {
      const { id } = yield* Kit.addAndTake(store, {}, { lockDurationMs: 0 })
      yield* store.recoverStalled({ maxStalledCount: 5 })
      const second = yield* Kit.take(store)
      yield* store.ack(id, second.token, Kit.again())
      const third = yield* Kit.take(store, { lockDurationMs: 0 })
      assert.strictEqual(third.id, id)
      yield* store.recoverStalled({ maxStalledCount: 5 })
      yield* Kit.isLedger(store, id, [Kit.run(1, "stalled"), Kit.run(2, "retried"), Kit.run(3, "stalled")])
    }))

  test("a flow parent's ledger has its fan-out and its collecting run", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"])
      yield* records(store, [report(id, "a", "completed"), report(id, "b", "completed")], [applied, settled])
      yield* Kit.pass(100)
      yield* collect(store, id, "sum")
      const now = Kit.start + 100
      yield* Kit.isLedger(store, id, [
        Kit.run(1, "fanned-out"),
        Kit.run(2, "completed", { startedAt: now, finishedAt: now, exit: "sum" })
      ])
    }))

  test("a replaced job keeps the entries that it has", (store) =>
    Effect.gen(function* () {
      const dedupe = { key: "k", ttlMs: undefined, extend: false, replace: true }
      const { id, token } = yield* Kit.addAndTake(store, { dedupe })
      yield* store.ack(id, token, Kit.again(1000, "first"))
      const replaced = yield* store.enqueue(Kit.request({ dedupe, payload: "new", delayMs: 500 }))
      assert.deepStrictEqual(replaced, { id, duplicate: true })
      yield* Kit.isLedger(store, id, [Kit.run(1, "retried", { exit: "first" })])
    }))

  test("the ledger goes with its job, and a new job of the same id starts at 1", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "failed", { id: "job" })
      assert.isTrue(yield* store.remove("job"))
      yield* Kit.isLedger(store, "job", [])
      yield* Kit.addFinished(store, "completed", { id: "job" })
      yield* Kit.isLedger(store, "job", [Kit.run(1, "completed", { exit: "done" })])
    }))

  test("each job has a ledger of its own", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "completed", { id: "job" })
      yield* Kit.addFinished(store, "failed", { id: "job/1" })
      yield* Kit.isLedger(store, "job", [Kit.run(1, "completed", { exit: "done" })])
      yield* Kit.isLedger(store, "job/1", [Kit.run(1, "failed", { exit: "broken" })])
    }))
}

export const ledger = (test: Kit.Test) => {
  describe("ledger: entries", () => {
    entries(test)
  })
  describe("ledger: numbering", () => {
    numbering(test)
  })
}
