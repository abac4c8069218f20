/** Ending, giving back and keeping claimed jobs, and taking back those whose lease has run out. */
import type { AckOutcome, AckResult, RecoveredJob } from "@jobwire/protocol"
import { isDeepStrictEqual } from "node:util"
import { exitOf, lockLost, notFound, type Step, succeed } from "./answers.ts"
import { end, writeRun } from "./ends.ts"
import { fanOut } from "./fanOut.ts"
import { problemOf } from "./refusals.ts"
import { find, type Job, json, put, type State, toBack, wake, whole } from "./state.ts"

const endOf = { Complete: "completed", Fail: "failed", Cancelled: "cancelled" } as const

const settle = (state: State, job: Job, token: string, outcome: AckOutcome, now: number): State => {
  const by = { token, outcome }
  if (outcome._tag === "FanOut") return fanOut(state, job, outcome, by, now)
  const { record } = job
  const spent: Job = { ...job, record: { ...record, attemptsMade: record.attemptsMade + 1 } }
  if (outcome._tag !== "Retry") return end(state, spent, endOf[outcome._tag], now, { exit: exitOf(outcome), by })
  if (record.cancelRequested) return end(state, spent, "cancelled", now, { by })
  const written = writeRun(spent, now, "retried", outcome.exit, by)
  const delay = whole(outcome.delayMs)
  const waits: Job = {
    ...written,
    lock: undefined,
    record: { ...written.record, state: delay > 0 ? "delayed" : "waiting", runAt: now + delay }
  }
  return wake(toBack(state, waits), record.queue, record.name)
}

/**
 * Whether a token has settled this job before by the same outcome. The contract leaves open what is "the same" beside the tag:
 * here the exit, where the run has kept it (a Retry that gave way to a cancel has not), and neither delay nor children. Of a
 * token that settled two runs of the job, which none should, the later one counts.
 */
const isRepeat = (job: Job, token: string, outcome: AckOutcome): boolean => {
  const run = job.ledger.findLast(({ by }) => by?.token === token)
  if (run?.by === undefined || run.by.outcome._tag !== outcome._tag) return false
  const keptExit = outcome._tag !== "FanOut" && run.entry.outcome !== "cancelled"
  return !keptExit || isDeepStrictEqual(json(exitOf(outcome)), run.entry.exit)
}

const holds = (job: Job, token: string): boolean => job.record.state === "active" && job.lock?.token === token

export const ack: Step<"ack"> = (state, now, [id, token, outcome]) => {
  const job = find(state, id)
  if (job === undefined) return notFound(state, id)
  if (holds(job, token)) return succeed(settle(state, job, token, outcome, now), undefined)
  return isRepeat(job, token, outcome) ? succeed(state, undefined) : lockLost(state, id)
}

export const ackMany: Step<"ackMany"> = (before, now, [acks]) => {
  let state = before
  const results = acks.map(({ id, outcome, token }): AckResult => {
    const problem = problemOf({ name: "ack", args: [id, token, outcome] })
    const [after, answer] =
      problem === undefined ? ack(state, now, [id, token, outcome], undefined) : [state, refusal(problem)]
    state = after
    // An error stands here as data: it is compared without its class and its message.
    return answer._tag === "Success" ? { _tag: "Acked" } : (answer.error as AckResult)
  })
  return succeed(state, results)
}

const refusal = (field: string) => ({
  _tag: "Failure" as const,
  error: { _tag: "JobStoreError" as const, reason: { _tag: "InvalidArgument", field } }
})

const backInLine = (state: State, job: Job): State => {
  const { name, queue } = job.record
  return wake(put(state, { ...job, lock: undefined, record: { ...job.record, state: "waiting" } }), queue, name)
}

export const release: Step<"release"> = (state, now, [id, token]) => {
  const job = find(state, id)
  if (job === undefined) return notFound(state, id)
  if (!holds(job, token)) return lockLost(state, id)
  return succeed(job.record.cancelRequested ? end(state, job, "cancelled", now) : backInLine(state, job), undefined)
}

export const extendLocks: Step<"extendLocks"> = (before, now, [locks, durationMs]) => {
  let state = before
  const lost: Array<string> = []
  const cancelRequested: Array<string> = []
  for (const { id, token } of locks) {
    const job = find(state, id)
    if (job === undefined || !holds(job, token)) lost.push(id)
    else if (job.record.cancelRequested) cancelRequested.push(id)
    else state = put(state, { ...job, lock: { token, until: now + whole(durationMs) } })
  }
  return succeed(state, { lost, cancelRequested })
}

const recover = (state: State, job: Job, maxStalledCount: number, now: number): State => {
  if (job.record.cancelRequested) return end(state, job, "cancelled", now)
  const stalledCount = job.record.stalledCount + 1
  const stalled: Job = { ...job, record: { ...job.record, stalledCount } }
  return stalledCount > maxStalledCount
    ? end(state, stalled, "failed", now, {
        outcome: "stalled",
        failedReason: "job stalled more than allowable limit"
      })
    : backInLine(state, writeRun(stalled, now, "stalled"))
}

export const recoverStalled: Step<"recoverStalled"> = (before, now, [{ maxStalledCount }]) => {
  let state = before
  const recovered: Array<RecoveredJob> = []
  // One after another in the order of their enqueue: retention may take one for the sake of the next.
  for (const job of before.jobs.filter(({ lock }) => lock !== undefined && lock.until <= now)) {
    state = recover(state, job, maxStalledCount, now)
    if (job.record.cancelRequested) continue
    recovered.push({ id: job.record.id, failed: job.record.stalledCount + 1 > maxStalledCount })
  }
  return succeed(state, recovered)
}
