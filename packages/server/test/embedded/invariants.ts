/** What must hold in a store at any time, read from its tables. */
import { type FlowChildStatus, isTerminal, type JobCounts, JobState } from "@jobwire/protocol"
import { assert } from "vitest"
import type { JobRow } from "../../src/core/JobRow.ts"
import { compareText, type OrderBy, orderValue } from "../../src/core/Order.ts"
import type { Tables } from "../../src/drivers/embedded/Tables.ts"

const queues = ["q1", "q2"]
const names = ["n1", "n2"]

/** Every job, in the order of `list` by this time. */
export const jobsOf = (tables: Tables, orderBy: OrderBy = "enqueuedAt"): ReadonlyArray<JobRow> =>
  Array.from(
    tables.jobs.scan({
      queue: undefined,
      name: undefined,
      states: undefined,
      metadata: undefined,
      orderBy,
      order: "asc",
      after: undefined
    })
  )

/** Checks all of them. */
export const checkTables = (tables: Tables, now: number): void => {
  const jobs = jobsOf(tables)
  for (const job of jobs) {
    checkJob(job)
    checkLedger(tables, job)
    checkFlow(tables, job)
  }
  checkCascades(tables)
  checkDedupes(tables)
  checkCounts(tables, jobs)
  checkLines(tables, jobs, now)
  checkLists(tables, jobs)
}

const checkJob = (job: JobRow): void => {
  assert.strictEqual(job.token !== undefined, job.state === "active", `the token of ${job.id}`)
  assert.strictEqual(job.lockUntil !== undefined, job.state === "active", `the lease of ${job.id}`)
  assert.strictEqual(job.finishedAt !== undefined, isTerminal(job.state), `the end of ${job.id}`)
  if (job.state !== "active") assert.isFalse(job.cancelRequested, `the cancel request of ${job.id}`)
}

const checkLedger = (tables: Tables, job: JobRow): void => {
  const attempts = tables.attempts.list(job)
  assert.deepStrictEqual(
    attempts.map(({ attempt }) => attempt),
    Array.from({ length: job.ledgerLength }, (_, index) => index + 1),
    `the ledger of ${job.id}`
  )
  const ends = attempts.map(({ finishedAt }) => finishedAt)
  assert.deepStrictEqual(
    ends,
    ends.toSorted((one, other) => one - other),
    `the times in the ledger of ${job.id}`
  )
}

const checkFlow = (tables: Tables, job: JobRow): void => {
  const children = Array.from(tables.children.list(job.id, undefined))
  if (job.flow === undefined) return assert.lengthOf(children, 0, `the children of ${job.id}, which has no flow`)
  const { cancelled, completed, failed, pending } = job.flow
  const having = (status: FlowChildStatus) => children.filter((child) => child.status === status).length
  assert.deepStrictEqual(
    { pending, completed, failed, cancelled },
    {
      pending: having("pending"),
      completed: having("completed"),
      failed: having("failed"),
      cancelled: having("cancelled")
    },
    `the counters of ${job.id}`
  )
  assert.strictEqual(pending > 0, job.state === "waiting-children", `whether ${job.id} waits for its children`)
  assert.strictEqual(
    tables.children.owesCascade(job.id),
    children.some(({ cascaded, status }) => status === "cancelled" && !cascaded),
    `whether ${job.id} owes cascades`
  )
}

const checkCascades = (tables: Tables): void => {
  for (const { childKey, flowId } of tables.children.owedCascade()) {
    const hasParent = tables.jobs.get(flowId) !== undefined
    assert.isTrue(hasParent, `child ${childKey} is owed a cancel by ${flowId}, which is gone`)
  }
}

const checkDedupes = (tables: Tables): void => {
  for (const { expiresAt, jobId, key } of tables.dedupes.all()) {
    if (expiresAt !== undefined) continue
    const job = tables.jobs.get(jobId)
    assert.isTrue(job !== undefined && !isTerminal(job.state), `key ${key} is held by ${jobId}, which is over`)
  }
}

const countsOf = (jobs: ReadonlyArray<JobRow>): JobCounts =>
  // One entry a state, from the list of all states.
  Object.fromEntries(
    JobState.literals.map((state) => [state, jobs.filter((job) => job.state === state).length])
  ) as unknown as JobCounts

const checkCounts = (tables: Tables, jobs: ReadonlyArray<JobRow>): void => {
  assert.deepStrictEqual(tables.jobs.counts(undefined), countsOf(jobs), "the counts")
  for (const queue of queues) {
    assert.deepStrictEqual(
      tables.jobs.counts(queue),
      countsOf(jobs.filter((job) => job.queue === queue)),
      `the counts of ${queue}`
    )
  }
}

const ids = (jobs: ReadonlyArray<JobRow>): ReadonlyArray<string> => jobs.map(({ id }) => id)

const checkLines = (tables: Tables, jobs: ReadonlyArray<JobRow>, now: number): void => {
  for (const queue of queues) {
    for (const asked of [names, ["n1"], []]) {
      const mine = jobs.filter((job) => job.queue === queue && asked.includes(job.name))
      const line = mine
        .filter(({ state }) => state === "waiting")
        .toSorted((one, other) => other.priority - one.priority || one.place - other.place)
      assert.strictEqual(tables.jobs.firstWaiting(queue, asked)?.id, line[0]?.id, `the first in line of ${queue}`)
      const times = mine.filter(({ state }) => state === "delayed").map(({ runAt }) => runAt)
      assert.strictEqual(
        tables.jobs.nextRunAt(queue, asked),
        times.length === 0 ? undefined : Math.min(...times),
        `the next run of ${queue}`
      )
    }
    const due = jobs.filter((job) => job.queue === queue && job.state === "delayed" && job.runAt <= now)
    assert.sameMembers([...ids(tables.jobs.due(queue, now, 10_000))], [...ids(due)], `what is due in ${queue}`)
  }
  const stalled = jobs.filter(({ lockUntil }) => lockUntil !== undefined && lockUntil <= now)
  assert.deepStrictEqual(
    ids(tables.jobs.stalled(now)),
    ids(stalled.toSorted((one, other) => one.seq - other.seq)),
    "what has stalled"
  )
}

const checkLists = (tables: Tables, jobs: ReadonlyArray<JobRow>): void => {
  for (const orderBy of ["enqueuedAt", "runAt", "finishedAt"] as const) {
    const sorted = jobs.toSorted(
      (one, other) => orderValue(one, orderBy) - orderValue(other, orderBy) || compareText(one.id, other.id)
    )
    assert.deepStrictEqual(ids(jobsOf(tables, orderBy)), ids(sorted), `the list by ${orderBy}`)
  }
}
