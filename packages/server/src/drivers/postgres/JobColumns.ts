/**
 * A job's rows as columns, and back: `job`, and beside it `live` or `done`. Every list of columns stands here once.
 */
import { isTerminal } from "@jobwire/protocol"
import type { AttemptRow, JobRow } from "../../core/JobRow.ts"
import { acks, outcomes, states } from "../columns/Codes.ts"
import {
  decodeBackoff,
  decodeFlow,
  decodeKeep,
  decodeMetadata,
  decodeParent,
  decodeTrace,
  encodeField,
  encodeMetadata
} from "../columns/FieldText.ts"
import type { Column } from "./Columns.ts"
import type { Row } from "./Connections.ts"
import { queueKey } from "./QueueKey.ts"
import * as RowStates from "./RowStates.ts"

type Text = string | null
type Time = number | null

type JobTuple = readonly [
  seq: number,
  id: string,
  queue: string,
  name: string,
  priority: number,
  enqueuedAt: number,
  payload: Text,
  metadata: Text,
  attemptsMax: number,
  backoff: Text,
  keep: Text,
  timeoutMs: Time,
  dedupeKey: Text,
  trace: Text,
  parent: Text,
  place: number,
  state: number,
  attemptsMade: number,
  stalledCount: number,
  ledgerLength: number,
  runAt: number,
  processedAt: Time,
  flow: Text,
  cancelRequested: boolean | null,
  lockUntil: Time,
  token: Text,
  finishedAt: Time,
  exit: Text,
  failedReason: Text,
  outcome: number | null,
  acked: number | null,
  endToken: Text,
  call: Text
]

const head = "j.seq::float8, j.id, n.queue, n.name, n.priority, j.enqueued_at"
const values = "j.payload::text, j.metadata::text"
const rest = "j.attempts_max, j.backoff, j.keep, j.timeout_ms, j.dedupe_key, j.trace, j.parent"

// `of` gives a column of the row beside `job`, whichever it is.
const progress = (of: (column: string) => string): string =>
  [
    `${of("place")}::float8`,
    ...["state", "attempts_made", "stalled_count", "ledger_length", "run_at", "processed_at", "flow"].map(of)
  ].join(", ")

const lease = "l.cancel_requested, l.lock_until, l.token"
const end = "d.finished_at, d.exit::text, d.failed_reason, d.outcome, d.acked, d.token"
const noLease = "null::bool, null::float8, null::text"
const noEnd = "null::float8, null::text, null::text, null::int2, null::int2, null::text"

/** A job that can still change, for {@link decodeJob}: of `job j`, `lane n` and `live l`. */
export const liveJob = `${head}, ${values}, ${rest}, ${progress((column) => `l.${column}`)}, ${lease}, ${noEnd}, j.call`

/** A job that can still change without its payload and metadata, which read as absent. */
export const liveJobWithoutValues = liveJob.replace(values, "null::text, null::text")

/** A finished job, for {@link decodeJob}: of `job j`, `lane n` and `done d`. */
export const doneJob = `${head}, ${values}, ${rest}, ${progress((column) => `d.${column}`)}, ${noLease}, ${end}, j.call`

/** A finished job without its payload, metadata and exit, which read as absent. */
export const doneJobWithoutValues = doneJob
  .replace(values, "null::text, null::text")
  .replace("d.exit::text", "null::text")

/** Jobs in whichever state, for {@link jobColumns}. */
export const jobTables =
  "job j left join live l on l.store = j.store and l.seq = j.seq left join done d on d.store = j.store and d.seq = j.seq " +
  "join lane n on n.store = j.store and n.lane = coalesce(l.lane, d.lane)"

/** A job in whichever state, for {@link decodeJob}: of {@link jobTables}. */
export const jobColumns = `${head}, ${values}, ${rest}, ${progress((column) => `coalesce(l.${column}, d.${column})`)}, ${lease}, ${end}, j.call`

const absent = <A>(value: A | null): A | undefined => (value === null ? undefined : value)

// What the columns are is said by the SQL above.
const tupleOf = (row: Row): JobTuple => row as unknown as JobTuple

/** The job in a row of {@link liveJob}, {@link doneJob} or {@link jobColumns}. */
export const decodeJob = (row: Row): JobRow => {
  const tuple = tupleOf(row)
  return {
    seq: tuple[0],
    id: tuple[1],
    queue: tuple[2],
    name: tuple[3],
    priority: tuple[4],
    enqueuedAt: tuple[5],
    payload: absent(tuple[6]),
    metadata: decodeMetadata(tuple[7]),
    attemptsMax: tuple[8],
    backoff: decodeBackoff(tuple[9]),
    keep: decodeKeep(tuple[10]),
    timeoutMs: absent(tuple[11]),
    dedupeKey: absent(tuple[12]),
    trace: decodeTrace(tuple[13]),
    parent: decodeParent(tuple[14]),
    place: tuple[15],
    state: RowStates.stateOf(tuple[16]),
    attemptsMade: tuple[17],
    stalledCount: tuple[18],
    ledgerLength: tuple[19],
    runAt: tuple[20],
    processedAt: absent(tuple[21]),
    flow: decodeFlow(tuple[22]),
    cancelRequested: tuple[23] === true,
    lockUntil: absent(tuple[24]),
    token: absent(tuple[25]),
    finishedAt: absent(tuple[26]),
    exit: absent(tuple[27]),
    failedReason: absent(tuple[28]),
    call: absent(tuple[32])
  }
}

/** The ledger entry that finished the job, which stands in its `done` row; `undefined` when it is not finished. */
export const decodeEnd = (row: Row): AttemptRow | undefined => {
  const tuple = tupleOf(row)
  const [finishedAt, outcome, acked] = [tuple[26], tuple[29], tuple[30]]
  if (finishedAt === null || outcome === null) return undefined
  return {
    attempt: tuple[19],
    startedAt: absent(tuple[21]),
    finishedAt,
    outcome: outcomes.word(outcome),
    exit: absent(tuple[27]),
    token: absent(tuple[31]),
    acked: acked === null ? undefined : acks.word(acked)
  }
}

/** What the producer said: the columns of `job` that a replacing enqueue writes again. */
export const producerFields: ReadonlyArray<Column<JobRow>> = [
  { name: "payload", type: "json", of: (job) => job.payload },
  { name: "metadata", type: "jsonb", of: (job) => encodeMetadata(job.metadata) },
  { name: "attempts_max", type: "float8", of: (job) => job.attemptsMax },
  { name: "backoff", type: "text", of: (job) => encodeField(job.backoff) },
  { name: "keep", type: "text", of: (job) => encodeField(job.keep) },
  { name: "timeout_ms", type: "float8", of: (job) => job.timeoutMs },
  { name: "trace", type: "text", of: (job) => encodeField(job.trace) }
]

/** All columns of `job` but the store. */
export const jobFields: ReadonlyArray<Column<JobRow>> = [
  { name: "seq", type: "int8", of: (job) => job.seq },
  { name: "id", type: "text", of: (job) => job.id },
  { name: "enqueued_at", type: "float8", of: (job) => job.enqueuedAt },
  { name: "dedupe_key", type: "text", of: (job) => job.dedupeKey },
  { name: "parent", type: "text", of: (job) => encodeField(job.parent) },
  { name: "call", type: "text", of: (job) => job.call },
  ...producerFields
]

/** Whether what the producer said differs. Transitions keep the values they do not change, so identity tells. */
export const isProducerChanged = (before: JobRow, after: JobRow): boolean =>
  before.payload !== after.payload ||
  before.metadata !== after.metadata ||
  before.attemptsMax !== after.attemptsMax ||
  before.backoff !== after.backoff ||
  before.keep !== after.keep ||
  before.timeoutMs !== after.timeoutMs ||
  before.trace !== after.trace

/** Whether the end of the job needs nothing but the move to `done`. */
export const isPlain = (job: JobRow): boolean =>
  job.parent === undefined && job.keep === undefined && job.dedupeKey === undefined && job.flow === undefined

/** A job for its row in `live`: with the number of its lane, and the number of its state there. */
export interface LiveItem {
  readonly job: JobRow
  readonly lane: number
  readonly state: number
}

/** All columns of `live` but the store. */
export const liveFields: ReadonlyArray<Column<LiveItem>> = [
  { name: "seq", type: "int8", of: ({ job }) => job.seq },
  { name: "lane", type: "int4", of: ({ lane }) => lane },
  { name: "queue_key", type: "int4", of: ({ job }) => queueKey(job.queue) },
  { name: "place", type: "int8", of: ({ job }) => job.place },
  { name: "state", type: "int2", of: ({ state }) => state },
  { name: "plain", type: "bool", of: ({ job }) => isPlain(job) },
  { name: "cancel_requested", type: "bool", of: ({ job }) => job.cancelRequested },
  { name: "attempts_made", type: "int4", of: ({ job }) => job.attemptsMade },
  { name: "stalled_count", type: "int4", of: ({ job }) => job.stalledCount },
  { name: "ledger_length", type: "int4", of: ({ job }) => job.ledgerLength },
  { name: "run_at", type: "float8", of: ({ job }) => job.runAt },
  { name: "processed_at", type: "float8", of: ({ job }) => job.processedAt },
  { name: "lock_until", type: "float8", of: ({ job }) => job.lockUntil },
  { name: "token", type: "text", of: ({ job }) => job.token },
  { name: "flow", type: "text", of: ({ job }) => encodeField(job.flow) }
]

/** A finished job for its row in `done`: with the number of its lane, and the ledger entry that finished it. */
export interface DoneItem {
  readonly job: JobRow
  readonly lane: number
  readonly end: AttemptRow
}

/** When the job's own rule lets it go, in epoch milliseconds; `undefined` when it has none for its state. */
export const keepUntil = ({ finishedAt, keep, state }: JobRow): number | undefined => {
  const age = isTerminal(state) ? keep?.[state]?.ageMs : undefined
  return age === undefined || finishedAt === undefined ? undefined : finishedAt + age
}

/** All columns of `done` but the store. */
export const doneFields: ReadonlyArray<Column<DoneItem>> = [
  { name: "seq", type: "int8", of: ({ job }) => job.seq },
  { name: "lane", type: "int4", of: ({ lane }) => lane },
  { name: "place", type: "int8", of: ({ job }) => job.place },
  { name: "state", type: "int2", of: ({ job }) => states.code(job.state) },
  { name: "attempts_made", type: "int4", of: ({ job }) => job.attemptsMade },
  { name: "stalled_count", type: "int4", of: ({ job }) => job.stalledCount },
  { name: "ledger_length", type: "int4", of: ({ job }) => job.ledgerLength },
  { name: "run_at", type: "float8", of: ({ job }) => job.runAt },
  { name: "processed_at", type: "float8", of: ({ job }) => job.processedAt },
  { name: "finished_at", type: "float8", of: ({ job }) => job.finishedAt },
  { name: "keep_until", type: "float8", of: ({ job }) => keepUntil(job) },
  { name: "outcome", type: "int2", of: ({ end }) => outcomes.code(end.outcome) },
  { name: "acked", type: "int2", of: ({ end }) => (end.acked === undefined ? null : acks.code(end.acked)) },
  { name: "token", type: "text", of: ({ end }) => end.token },
  { name: "exit", type: "json", of: ({ job }) => job.exit },
  { name: "failed_reason", type: "text", of: ({ job }) => job.failedReason },
  { name: "flow", type: "text", of: ({ job }) => encodeField(job.flow) }
]
