/** How a job ends, by whatever path: ledger, rows, outbox, dedupe key, retention. */
import type { AttemptOutcome, TerminalState } from "@jobwire/protocol"
import { compareText, isOver, type Job, json, put, type Run, type State } from "./state.ts"

/** What is said of an end beside the state that it leads to. */
export interface End {
  readonly exit?: unknown
  readonly failedReason?: string
  /** What the ledger says of the run; the state itself unless given. */
  readonly outcome?: AttemptOutcome
  readonly by?: Run["by"]
}

/** The job with one more entry in its ledger. An end that came without a run begins when the latest run did. */
export const writeRun = (job: Job, now: number, outcome: AttemptOutcome, exit?: unknown, by?: Run["by"]): Job => ({
  ...job,
  ledger: [
    ...job.ledger,
    {
      entry: {
        attempt: job.ledger.length + 1,
        startedAt: job.record.processedAt,
        finishedAt: now,
        outcome,
        exit: json(exit)
      },
      by
    }
  ]
})

/** The state after the job has ended so. */
export const end = (state: State, job: Job, to: TerminalState, now: number, how: End = {}): State => {
  const written = writeRun(job, now, how.outcome ?? to, how.exit, how.by)
  const ended: Job = {
    ...written,
    lock: undefined,
    record: {
      ...job.record,
      state: to,
      cancelRequested: false,
      finishedAt: now,
      exit: json(how.exit),
      failedReason: how.failedReason
    },
    flow: job.flow === undefined ? undefined : { ...job.flow, children: job.flow.children.map(cancelPending) }
  }
  return keep(freeKey(report(put(state, ended), ended, to), ended, now), ended, to, now)
}

const cancelPending = (child: NonNullable<Job["flow"]>["children"][number]) =>
  child.status === "pending" ? { ...child, status: "cancelled" as const, cascaded: false } : child

const report = (state: State, { record }: Job, outcome: TerminalState): State => {
  if (record.parent === undefined) return state
  const { childKey, flowId, flowName, parentStoreKey } = record.parent
  const { exit, failedReason } = record
  const entry = { flowName, parentStoreKey, report: { flowId, childKey, outcome, exit, failedReason } }
  return { ...state, outbox: [...state.outbox, { id: undefined, entry, deleted: false }] }
}

/** A key that no window holds any longer is free when its job has ended or is gone. */
const freeKey = (state: State, job: Job, now: number): State => ({
  ...state,
  keys: state.keys.filter((key) => key.job.number !== job.number || (key.until !== undefined && now < key.until))
})

/** The state without a job, its ledger and its rows. */
export const forget = (state: State, job: Job, now: number): State =>
  freeKey({ ...state, jobs: state.jobs.filter((each) => each.number !== job.number) }, job, now)

const owesCascades = (job: Job): boolean =>
  job.flow?.children.some((child) => child.status === "cancelled" && !child.cascaded) === true

// The job's own rule, for all jobs of its name and state.
const keep = (state: State, { record }: Job, to: TerminalState, now: number): State => {
  const rule = record.keep?.[to]
  if (rule === undefined) return state
  const newestFirst = state.jobs
    .filter((job) => isOver(job) && job.record.name === record.name && job.record.state === to)
    .toSorted((one, other) => (other.record.finishedAt ?? 0) - (one.record.finishedAt ?? 0) || other.place - one.place)
  const tooMany = rule.count === undefined ? [] : newestFirst.slice(rule.count)
  const { ageMs } = rule
  const tooOld = ageMs === undefined ? [] : newestFirst.filter((job) => (job.record.finishedAt ?? 0) <= now - ageMs)
  return [...tooMany, ...tooOld]
    .filter((job) => !owesCascades(job))
    .reduce((kept, job) => forget(kept, job, now), state)
}

/** Children that are owed a cancel, by flow and key. */
export const owedCascades = (state: State) =>
  state.jobs
    .flatMap((job) => (job.flow?.children ?? []).map((child) => ({ flowId: job.record.id, child })))
    .filter(({ child }) => child.status === "cancelled" && !child.cascaded)
    .toSorted(
      (one, other) => compareText(one.flowId, other.flowId) || compareText(one.child.childKey, other.child.childKey)
    )
