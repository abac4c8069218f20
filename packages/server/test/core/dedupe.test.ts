/** Who holds a dedupe key: every case of the rules. */
import type { DedupePolicy } from "@jobwire/protocol"
import { assert, describe, it } from "vitest"
import { isFreedBy, isOver, judge, keyedBy, take, type Verdict } from "../../src/core/Dedupe.ts"
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

const keyed = row({ dedupeKey: "key" })
const delayed: JobRow = { ...keyed, state: "delayed" }
const finished: JobRow = { ...keyed, state: "completed", finishedAt: now - 1 }

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
  { rule: "a pending job holds its key", entry: entry(), keyed, verdict: held },
  { rule: "a finished job does not", entry: entry(), keyed: finished, verdict: free },
  { rule: "a job that is gone does not", entry: entry(), keyed: undefined, verdict: free },
  { rule: "a window holds beyond the end of the job", entry: entry(now + 1), keyed: finished, verdict: held },
  { rule: "a window holds beyond the job itself", entry: entry(now + 1), keyed: undefined, verdict: held },
  { rule: "a window ends at its moment", entry: entry(now), keyed: finished, verdict: free },
  { rule: "a window that is over frees a key of a pending job", entry: entry(now), keyed, verdict: free },
  {
    rule: "extend pushes a live window out",
    policy: { extend: true, ttlMs: 9.5 },
    entry: entry(now + 1),
    keyed,
    verdict: { ...held, entry: entry(now + 10) }
  },
  {
    rule: "a window is not pushed out without extend",
    policy: { ttlMs: 10 },
    entry: entry(now + 1),
    keyed,
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
    rule: "replace takes a delayed job also after its window",
    policy: { replace: true },
    entry: entry(now),
    keyed: delayed,
    verdict: { _tag: "Replace", keyed: delayed, entry: undefined }
  },
  {
    rule: "replace leaves a later job that has the id of the keyed one",
    policy: { replace: true },
    entry: entry(now + 1),
    keyed: row({ state: "delayed" }),
    verdict: held
  },
  {
    rule: "replace leaves a job that is not delayed",
    policy: { replace: true },
    entry: entry(),
    keyed,
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

  it("can be forgotten when its window is over and its job is finished for good, or gone", () => {
    assert.isFalse(isOver(entry(), keyed, now))
    assert.isFalse(isOver(entry(now + 1), finished, now))
    assert.isFalse(isOver(entry(now), keyed, now))
    assert.isFalse(isOver(entry(now), { ...keyed, state: "failed" }, now))
    assert.isTrue(isOver(entry(now), finished, now))
    assert.isTrue(isOver(entry(now), undefined, now))
    assert.isTrue(isOver(entry(now), row(), now), "another job has its id now")
  })

  it("is that of its own job only, and not of a later one under the same id", () => {
    assert.strictEqual(keyedBy(entry(), keyed), keyed)
    for (const later of [row(), { ...keyed, dedupeKey: "other" }, { ...keyed, name: "other" }, undefined]) {
      assert.isUndefined(keyedBy(entry(), later))
    }
  })
})
