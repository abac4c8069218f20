/** Single rules of the core, with the values they must give. */
import { type AckOutcome, isTerminal } from "@jobwire/protocol"
import { Option, Result } from "effect"
import { assert, describe, it } from "vitest"
import { acknowledge } from "../../src/core/Ack.ts"
import { cancel } from "../../src/core/Cancel.ts"
import { claimAgain } from "../../src/core/Claim.ts"
import { newJob } from "../../src/core/Enqueue.ts"
import { isRepeat, nextEntry } from "../../src/core/Ledger.ts"
import { promote } from "../../src/core/Promote.ts"
import { isExpired, keepCut } from "../../src/core/Retention.ts"
import { retry } from "../../src/core/Retry.ts"
import { advance, upsert } from "../../src/core/Schedule.ts"
import { settleParent } from "../../src/core/Settle.ts"
import { recover } from "../../src/core/Stall.ts"
import { wholeMs } from "../../src/core/Time.ts"
import { activeRow, enqueuedAt, parkedRow, request, row } from "./support/rows.ts"

const now = enqueuedAt + 1_000

describe("lengths of time", () => {
  it("are rounded up to whole milliseconds, and not below 0", () => {
    assert.deepStrictEqual([-5, -0.5, 0, 0.1, 1, 1.5].map(wholeMs), [0, 0, 0, 1, 1, 2])
  })
})

describe("a new job", () => {
  it("is waiting without a delay, and delayed with the smallest one", () => {
    assert.strictEqual(newJob("a", 1, request(), now).state, "waiting")
    assert.strictEqual(newJob("a", 1, request({ delayMs: -3 }), now).runAt, now)
    const delayed = newJob("a", 1, request({ delayMs: 0.2 }), now)
    assert.deepStrictEqual([delayed.state, delayed.runAt], ["delayed", now + 1])
  })

  it("shares nothing with its request", () => {
    const metadata = { tenant: "a" }
    const made = newJob("a", 1, request({ metadata }), now)
    metadata.tenant = "b"
    assert.deepStrictEqual(made.metadata, { tenant: "a" })
    assert.isTrue(Object.isFrozen(made.metadata))
  })
})

describe("a repeated claim", () => {
  it("never shortens the lease", () => {
    const held = activeRow({ lockUntil: now + 500 })
    assert.strictEqual(claimAgain(held, 100, now), held)
    assert.strictEqual(claimAgain(held, 900, now).lockUntil, now + 900)
  })
})

const entryOf = (outcome: AckOutcome, fields: Parameters<typeof activeRow>[0] = {}) =>
  acknowledge(activeRow(fields), "token", outcome, now).attempt ?? assert.fail("an ack writes a ledger entry")

describe("a repeated ack", () => {
  it("is the same outcome with the same exit", () => {
    const entry = entryOf({ _tag: "Complete", exit: 1 })
    assert.isTrue(isRepeat(entry, { _tag: "Complete", exit: 1 }, "1"))
    assert.isFalse(isRepeat(entry, { _tag: "Complete", exit: 2 }, "2"))
    assert.isFalse(isRepeat(entry, { _tag: "Complete", exit: undefined }, undefined))
    assert.isFalse(isRepeat(entry, { _tag: "Fail", exit: 1 }, "1"))
  })

  it("has the same exit also when its keys come in another order", () => {
    const entry = entryOf({ _tag: "Complete", exit: { a: 1, b: [{ c: 2, d: null }] } })
    const again = (exit: unknown) => isRepeat(entry, { _tag: "Complete", exit }, JSON.stringify(exit))
    assert.isTrue(again({ b: [{ d: null, c: 2 }], a: 1 }))
    assert.isFalse(again({ b: [{ c: 2 }], a: 1 }))
  })

  it("is known by what the worker sent, when a cancel had made another end of it", () => {
    const entry = entryOf({ _tag: "Retry", delayMs: 0, exit: "no" }, { cancelRequested: true })
    assert.strictEqual(entry.outcome, "cancelled")
    assert.isTrue(isRepeat(entry, { _tag: "Retry", delayMs: 0, exit: "no" }, '"no"'))
    assert.isFalse(isRepeat(entry, { _tag: "Cancelled" }, undefined))
  })

  it("is not known from an entry that no ack wrote", () => {
    const entry = nextEntry(activeRow(), "stalled", now)
    assert.isFalse(isRepeat(entry, { _tag: "Fail", exit: undefined }, undefined))
  })
})

describe("a stalled job", () => {
  it("fails past the maximum, with the text that effect-mq knows", () => {
    const { decision, report } = recover(activeRow({ stalledCount: 1 }), 1, now)
    assert.deepStrictEqual(report, { id: "job", failed: true })
    assert.strictEqual(decision.row.failedReason, "job stalled more than allowable limit")
    assert.strictEqual(decision.attempt?.outcome, "stalled")
  })

  it("is cancelled when that was asked for, and not reported", () => {
    const { decision, report } = recover(activeRow({ cancelRequested: true }), 0, now)
    assert.isUndefined(report)
    assert.strictEqual(decision.row.state, "cancelled")
  })
})

describe("a fan-out", () => {
  const children = ["a", "b"].map((key) => ({ childKey: key, storeKey: "s", request: request({ id: key }) }))
  const fanOut: AckOutcome = { _tag: "FanOut", failFast: false, children }

  it("spends no attempt", () => {
    assert.strictEqual(acknowledge(activeRow(), "token", fanOut, now).row.attemptsMade, 0)
  })

  it("gives way to a cancel, with one ledger entry and every child cancelled", () => {
    const decision = acknowledge(activeRow({ cancelRequested: true }), "token", fanOut, now)
    assert.strictEqual(decision.attempt?.outcome, "cancelled")
    assert.deepStrictEqual(decision.row.flow, { failFast: false, pending: 0, completed: 0, failed: 0, cancelled: 2 })
    assert.isTrue(decision.cancelsChildren)
    assert.lengthOf(decision.children ?? [], 2)
  })

  it("keeps a manifest that is there", () => {
    const flow = { failFast: true, pending: 0, completed: 3, failed: 0, cancelled: 0 }
    const decision = acknowledge(activeRow({ flow }), "token", fanOut, now)
    assert.isUndefined(decision.children)
    assert.deepStrictEqual([decision.row.state, decision.row.flow], ["waiting", flow])
  })
})

describe("a parent that settles", () => {
  const failed = { flowId: "job", childKey: 'the "key"', outcome: "failed" as const, exit: 1, failedReason: "no" }

  it("names the child that failed it, and has no exit", () => {
    const settled = settleParent(parkedRow({ failFast: true, failed: 1, pending: 1 }), failed, now)
    assert.strictEqual(settled?.by, "failure")
    assert.include(settled?.decision.row.failedReason, 'flow child "the "key"" failed')
    assert.isUndefined(settled?.decision.row.exit)
    assert.isTrue(settled?.decision.cancelsChildren)
  })

  it("fails also when the failure was the last child", () => {
    const settled = settleParent(parkedRow({ failFast: true, failed: 1, pending: 0 }), failed, now)
    assert.isTrue(settled !== undefined && isTerminal(settled.decision.row.state))
    assert.isFalse(settled?.decision.cancelsChildren)
  })

  it("does nothing while children are pending, or when it does not wait", () => {
    assert.isUndefined(settleParent(parkedRow({ pending: 1 }), failed, now))
    assert.isUndefined(settleParent(parkedRow({ pending: 0 }, { state: "cancelled" }), undefined, now))
  })
})

describe("retention", () => {
  it("cuts by the policy of the state that was reached", () => {
    const keep = {
      completed: { count: 2, ageMs: undefined },
      failed: { count: undefined, ageMs: 10 },
      cancelled: undefined
    }
    const job = row({ keep })
    const common = { name: "name" }
    assert.deepStrictEqual(keepCut(job, "completed", now), {
      ...common,
      state: "completed",
      count: 2,
      finishedUntil: undefined
    })
    assert.deepStrictEqual(keepCut(job, "failed", now), {
      ...common,
      state: "failed",
      count: undefined,
      finishedUntil: now - 10
    })
    assert.isUndefined(keepCut(job, "cancelled", now))
  })

  it("sweeps by the stricter of the job's age rule and the store's ceiling", () => {
    const finished = (ageMs: number | undefined) =>
      row({
        state: "completed",
        finishedAt: now - 50,
        keep: { completed: { count: undefined, ageMs }, failed: undefined, cancelled: undefined }
      })
    assert.isTrue(isExpired(finished(undefined), { completed: 50 }, now))
    assert.isFalse(isExpired(finished(undefined), { completed: 51 }, now))
    assert.isTrue(isExpired(finished(10), { completed: 51 }, now))
    assert.isTrue(isExpired(finished(10), {}, now))
    assert.isFalse(isExpired(finished(undefined), { failed: 1 }, now))
    assert.isFalse(isExpired(row(), { completed: 1 }, now))
  })
})

describe("a schedule", () => {
  const {
    dedupe: _dedupe,
    delayMs: _delay,
    id: _id,
    name: _name,
    parent: _parent,
    trace: _trace,
    ...shared
  } = request()
  const schedule = {
    ...shared,
    key: "key",
    jobName: "name",
    cron: undefined,
    tz: undefined,
    everyMs: 60_000,
    group: undefined,
    nextRunAt: 100
  }

  it("keeps its next run when the cadence is the same, and takes the given one when it is not", () => {
    assert.strictEqual(upsert(schedule, { ...schedule, priority: 9, nextRunAt: 500 }).nextRunAt, 100)
    assert.strictEqual(upsert(schedule, { ...schedule, everyMs: 1, nextRunAt: 500 }).nextRunAt, 500)
    assert.strictEqual(upsert(undefined, { ...schedule, nextRunAt: 500 }).nextRunAt, 500)
  })

  it("moves only from where the caller believes it stands", () => {
    assert.strictEqual(advance(schedule, 100, 200)?.nextRunAt, 200)
    assert.isUndefined(advance(schedule, 99, 200))
    assert.isUndefined(advance(undefined, 100, 200))
  })
})

describe("commands by hand", () => {
  it("are refused by state, and the error says which", () => {
    const finished = row({ state: "completed", finishedAt: now })
    const errors = [
      Option.getOrThrow(Result.getFailure(retry(finished, now))),
      Option.getOrThrow(Result.getFailure(promote(finished, now))),
      Option.getOrThrow(Result.getFailure(cancel(finished, now)))
    ]
    for (const error of errors) assert.deepStrictEqual([error.jobId, error.state], ["job", "completed"])
  })
})

describe("a retry by hand", () => {
  it("gives fresh attempts and stalls, clears the end, and keeps ledger and flow", () => {
    const flow = { failFast: true, pending: 0, completed: 1, failed: 1, cancelled: 0 }
    const failed = row({
      state: "failed",
      attemptsMade: 3,
      stalledCount: 2,
      ledgerLength: 5,
      flow,
      processedAt: enqueuedAt,
      finishedAt: enqueuedAt,
      exit: "1",
      failedReason: "no"
    })
    const decision = Option.getOrThrow(Result.getSuccess(retry(failed, now)))
    assert.deepStrictEqual(decision.row, row({ ledgerLength: 5, flow, runAt: now }))
  })
})
