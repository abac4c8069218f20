/** Who holds a dedupe key: every case of the rules. */
import type { DedupePolicy } from "@jobwire/protocol"
import { assert, describe, it } from "vitest"
import { isFreedBy, isOver, judge, take, type Verdict } from "../../src/core/Dedupe.ts"
import type { DedupeRow, JobRow } from "../../src/core/JobRow.ts"
import { row } from "./support/rows.ts"

const now = 5_000

const policy = (fields: Partial<DedupePolicy> = {}): DedupePolicy => ({
  key: "key",
  ttlMs: undefined,
  extend: false,
  replace: false,
  ...fields
})

const entry = (expiresAt?: number): DedupeRow => ({ name: "name", key: "key", jobId: "job", expiresAt })

const waiting = row()
const delayed = row({ state: "delayed" })
const finished = row({ state: "completed", finishedAt: now - 1 })

const held: Verdict = { _tag: "Held", jobId: "job", entry: undefined }
const free: Verdict = { _tag: "Free" }

interface Case {
  readonly rule: string
  readonly policy?: Partial<DedupePolicy>
  readonly entry: DedupeRow | undefined
  readonly keyed: JobRow | undefined
  readonly verdict: Verdict
}

const cases: ReadonlyArray<Case> = [
  { rule: "a key that nobody took is free", entry: undefined, keyed: undefined, verdict: free },
  { rule: "a pending job holds its key", entry: entry(), keyed: waiting, verdict: held },
  { rule: "a finished job does not", entry: entry(), keyed: finished, verdict: free },
  { rule: "a job that is gone does not", entry: entry(), keyed: undefined, verdict: free },
  { rule: "a window holds beyond the end of the job", entry: entry(now + 1), keyed: finished, verdict: held },
  { rule: "a window holds beyond the job itself", entry: entry(now + 1), keyed: undefined, verdict: held },
  { rule: "a window ends at its moment", entry: entry(now), keyed: finished, verdict: free },
  { rule: "a window that is over frees a key of a pending job", entry: entry(now), keyed: waiting, verdict: free },
  {
    rule: "extend pushes a live window out",
    policy: { extend: true, ttlMs: 9.5 },
    entry: entry(now + 1),
    keyed: waiting,
    verdict: { ...held, entry: entry(now + 10) }
  },
  {
    rule: "a window is not pushed out without extend",
    policy: { ttlMs: 10 },
    entry: entry(now + 1),
    keyed: waiting,
    verdict: held
  },
  {
    rule: "replace takes a delayed job",
    policy: { replace: true },
    entry: entry(),
    keyed: delayed,
    verdict: { _tag: "Replace", keyed: delayed, entry: undefined }
  },
  {
    rule: "replace starts the window again",
    policy: { replace: true, ttlMs: 10 },
    entry: entry(now + 1),
    keyed: delayed,
    verdict: { _tag: "Replace", keyed: delayed, entry: entry(now + 10) }
  },
  {
    rule: "replace leaves a job that is not delayed",
    policy: { replace: true },
    entry: entry(),
    keyed: waiting,
    verdict: held
  }
]

describe("the verdict on an enqueue under a key", () => {
  for (const { entry, keyed, policy: fields, rule, verdict } of cases) {
    it(rule, () => assert.deepStrictEqual(judge(policy(fields), entry, keyed, now), verdict))
  }
})

describe("the row of a key", () => {
  it("has a window when the policy has one, in whole milliseconds", () => {
    assert.deepStrictEqual(take("name", policy(), "job", now), entry())
    assert.deepStrictEqual(take("name", policy({ ttlMs: 0.1 }), "job", now), entry(now + 1))
  })

  it("is freed by its own job, unless a window outlasts it", () => {
    assert.isTrue(isFreedBy(entry(), "job", now))
    assert.isTrue(isFreedBy(entry(now), "job", now))
    assert.isFalse(isFreedBy(entry(now + 1), "job", now))
    assert.isFalse(isFreedBy(entry(), "another", now))
    assert.isFalse(isFreedBy(undefined, "job", now))
  })

  it("can be forgotten when its window is over", () => {
    assert.isFalse(isOver(entry(), now))
    assert.isFalse(isOver(entry(now + 1), now))
    assert.isTrue(isOver(entry(now), now))
  })
})
