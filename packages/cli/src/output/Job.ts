/** A job for people: its record, its runs, and what it waits for. */
import type { AttemptRecord, JobRecord } from "@jobwire/protocol"
import { readExit } from "../exec/ExitValue.ts"
import { formatDuration } from "../flags/Duration.ts"
import { formatBackoff } from "../flags/Policy.ts"
import { type Column, table } from "./Table.ts"
import { indent, oneLine, plural, printable } from "./Text.ts"
import { moment, relative } from "./Time.ts"

interface ListColumn extends Column {
  readonly of: (job: JobRecord, now: number) => string
}

// The state says what the time is about.
const when = (job: JobRecord, now: number): string => {
  if (job.state === "delayed") return relative(job.runAt, now)
  if (job.state === "active") return relative(job.processedAt ?? job.enqueuedAt, now)
  return relative(job.finishedAt ?? job.enqueuedAt, now)
}

const priorityColumn: ListColumn = { heading: "PRIORITY", align: "right", of: ({ priority }) => String(priority) }

const listColumns = (jobs: ReadonlyArray<JobRecord>): ReadonlyArray<ListColumn> => [
  { heading: "ID", of: ({ id }) => id },
  { heading: "NAME", shrinkTo: 6, of: ({ name }) => name },
  { heading: "QUEUE", shrinkTo: 5, of: ({ queue }) => queue },
  { heading: "STATE", of: ({ state }) => state },
  { heading: "RUNS", align: "right", of: ({ attemptsMade, attemptsMax }) => `${attemptsMade}/${attemptsMax}` },
  ...(jobs.some(({ priority }) => priority !== 0) ? [priorityColumn] : []),
  { heading: "WHEN", of: when }
]

/** One line a job, below headings. */
export const jobTable = (jobs: ReadonlyArray<JobRecord>, now: number, limit: number): string => {
  const columns = listColumns(jobs)
  const rows = jobs.map((job) => columns.map((column) => column.of(job, now)))
  return table(columns, rows, limit)
}

const runColumns: ReadonlyArray<Column> = [
  { heading: "RUN", align: "right" },
  { heading: "OUTCOME" },
  { heading: "STARTED" },
  { heading: "TOOK", align: "right" },
  { heading: "ENDED WITH", shrinkTo: 20 }
]

const took = ({ finishedAt, startedAt }: AttemptRecord): string =>
  startedAt === undefined ? "" : formatDuration(finishedAt - startedAt)

const runTable = (runs: ReadonlyArray<AttemptRecord>, now: number, limit: number): string =>
  table(
    runColumns,
    runs.map((run) => [
      String(run.attempt),
      run.outcome,
      run.startedAt === undefined ? "never" : relative(run.startedAt, now),
      took(run),
      run.exit === undefined ? "" : readExit(run.exit).summary
    ]),
    limit
  )

const json = (value: unknown): string => printable(JSON.stringify(value, null, 2))

const policies = (job: JobRecord): ReadonlyArray<readonly [string, string | undefined]> => [
  ["backoff", job.backoff === undefined ? undefined : formatBackoff(job.backoff, formatDuration)],
  ["timeout", job.timeoutMs === undefined ? undefined : `${formatDuration(job.timeoutMs)} a run`],
  ["keep", job.keep === undefined ? undefined : JSON.stringify(job.keep)],
  ["dedupe key", job.dedupeKey],
  ["parent", job.parent === undefined ? undefined : `${job.parent.flowId} (child ${job.parent.childKey})`],
  ["trace", job.trace?.traceId]
]

const facts = (job: JobRecord, now: number): ReadonlyArray<readonly [string, string | undefined]> => [
  ["id", job.id],
  ["name", job.name],
  ["queue", job.queue],
  ["state", job.cancelRequested ? `${job.state} (cancel requested)` : job.state],
  ["runs", `${job.attemptsMade} of ${job.attemptsMax}`],
  ["stalls", job.stalledCount === 0 ? undefined : String(job.stalledCount)],
  ["priority", String(job.priority)],
  ["enqueued", moment(job.enqueuedAt, now)],
  ["runs at", job.state === "delayed" ? moment(job.runAt, now) : undefined],
  ["started", job.processedAt === undefined ? undefined : moment(job.processedAt, now)],
  ["finished", job.finishedAt === undefined ? undefined : moment(job.finishedAt, now)],
  ...policies(job),
  ["metadata", Object.keys(job.metadata).length === 0 ? undefined : JSON.stringify(job.metadata)]
]

const factLines = (pairs: ReadonlyArray<readonly [string, string | undefined]>): ReadonlyArray<string> =>
  pairs.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(12)}${oneLine(value)}`]))

/** What the record says about why a job that has not finished does not run. `undefined` for a finished one. */
export const whyItWaits = (job: JobRecord, isPaused: boolean, now: number): string | undefined => {
  const paused = isPaused ? ` Queue ${JSON.stringify(job.queue)} is paused; \`jobwire queues resume\` ends that.` : ""
  switch (job.state) {
    case "waiting":
      return isPaused
        ? paused.trim()
        : `It waits for a free worker that takes ${JSON.stringify(job.name)} from queue ${JSON.stringify(job.queue)}.`
    case "delayed": {
      const reason = job.attemptsMade > 0 ? "A run failed, and the next one waits for its backoff" : "It was delayed"
      return `${reason}: it may run ${relative(job.runAt, now)}.${paused}`
    }
    case "active":
      return job.cancelRequested
        ? "A worker runs it and will stop it: somebody asked to cancel it."
        : "A worker runs it. If that worker is gone, the job comes back when the lease has run out."
    case "waiting-children":
      return `It waits for ${plural(job.flow?.pending ?? 0, "child job")} of its flow.`
    default:
      return undefined
  }
}

/** The whole job: facts, why it waits, payload, how it ended, and every run. */
export const jobDetails = (
  job: JobRecord,
  runs: ReadonlyArray<AttemptRecord>,
  why: string | undefined,
  now: number,
  limit: number
): string => {
  const sections = [factLines(facts(job, now)).join("\n")]
  if (why !== undefined) sections.push(`why it waits\n${indent(printable(why), 2)}`)
  if (job.failedReason !== undefined) sections.push(`failed because\n${indent(printable(job.failedReason), 2)}`)
  sections.push(`payload\n${indent(job.payload === undefined ? "(none)" : json(job.payload), 2)}`)
  if (job.exit !== undefined) sections.push(`ended with\n${indent(printable(readExit(job.exit).details), 2)}`)
  if (runs.length > 0) sections.push(`ledger\n${indent(runTable(runs, now, limit - 2), 2)}`)
  return sections.join("\n\n")
}
