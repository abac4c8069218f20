/** A job's two rows as columns, and back. Every list of columns stands here once. */
import type { JobRow } from "../../core/JobRow.ts"
import { states } from "../columns/Codes.ts"
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
import { seqOf } from "./JobKey.ts"
import type { Lane, Lanes } from "./Lanes.ts"

type Text = string | null
type Time = number | null

/** A job as it is read. */
export type JobTuple = [
  seq: number,
  id: string,
  lane: number,
  state: number,
  priority: number,
  place: number,
  runAt: number,
  enqueuedAt: number,
  token: Text,
  lockUntil: Time,
  processedAt: Time,
  finishedAt: Time,
  attemptsMade: number,
  stalledCount: number,
  ledgerLength: number,
  cancelRequested: number,
  flow: Text,
  failedReason: Text,
  exit: Text,
  payload: Text,
  metadata: Text,
  attemptsMax: number,
  backoff: Text,
  keep: Text,
  timeoutMs: number | null,
  dedupeKey: Text,
  trace: Text,
  parent: Text,
  call: Text
]

/** `select` and `from` for {@link JobTuple}; conditions are on `s`, the narrow row. */
export const selectJob = `
  select ${seqOf("s.key")}, s.id, s.lane, s.state, s.priority, s.place, s.run_at, s.enqueued_at, s.token, s.lock_until,
    s.processed_at, s.finished_at, s.attempts_made, s.stalled_count, s.ledger_length, s.cancel_requested, s.flow,
    s.failed_reason, s.exit, j.payload, j.metadata, j.attempts_max, j.backoff, j.keep, j.timeout_ms, j.dedupe_key, j.trace,
    j.parent, j.call
  from status s join job j on j.key = s.key`

const absent = <A>(value: A | null): A | undefined => (value === null ? undefined : value)

/** The row that a tuple stands for. */
export const decodeJob = (tuple: JobTuple, lanes: Lanes): JobRow => {
  const lane = lanes.byId(tuple[2])
  return {
    seq: tuple[0],
    id: tuple[1],
    queue: lane.queue,
    name: lane.name,
    state: states.word(tuple[3]),
    priority: tuple[4],
    place: tuple[5],
    runAt: tuple[6],
    enqueuedAt: tuple[7],
    token: absent(tuple[8]),
    lockUntil: absent(tuple[9]),
    processedAt: absent(tuple[10]),
    finishedAt: absent(tuple[11]),
    attemptsMade: tuple[12],
    stalledCount: tuple[13],
    ledgerLength: tuple[14],
    cancelRequested: tuple[15] === 1,
    flow: decodeFlow(tuple[16]),
    failedReason: absent(tuple[17]),
    exit: absent(tuple[18]),
    payload: absent(tuple[19]),
    metadata: decodeMetadata(tuple[20]),
    attemptsMax: tuple[21],
    backoff: decodeBackoff(tuple[22]),
    keep: decodeKeep(tuple[23]),
    timeoutMs: absent(tuple[24]),
    dedupeKey: absent(tuple[25]),
    trace: decodeTrace(tuple[26]),
    parent: decodeParent(tuple[27]),
    call: absent(tuple[28])
  }
}

/** The columns of `job` behind its key, in the order of {@link encodeWide}. */
export const wideColumns = [
  "payload",
  "metadata",
  "attempts_max",
  "backoff",
  "keep",
  "timeout_ms",
  "dedupe_key",
  "trace",
  "parent",
  "call"
] as const

/** What the producer said. */
export const encodeWide = (row: JobRow) =>
  [
    row.payload ?? null,
    encodeMetadata(row.metadata),
    row.attemptsMax,
    encodeField(row.backoff),
    encodeField(row.keep),
    row.timeoutMs ?? null,
    row.dedupeKey ?? null,
    encodeField(row.trace),
    encodeField(row.parent),
    row.call ?? null
  ] as const

/** Whether the producer's part differs. Transitions keep the values they do not change, so identity tells. */
export const isWideChanged = (before: JobRow, after: JobRow): boolean =>
  before.payload !== after.payload ||
  before.metadata !== after.metadata ||
  before.attemptsMax !== after.attemptsMax ||
  before.backoff !== after.backoff ||
  before.keep !== after.keep ||
  before.timeoutMs !== after.timeoutMs ||
  before.dedupeKey !== after.dedupeKey ||
  before.trace !== after.trace ||
  before.parent !== after.parent

/** The columns of `status` that an index holds and a transition may change, in the order of {@link encodePlace}. */
export const placeColumns = [
  "lane",
  "state",
  "priority",
  "place",
  "run_at",
  "enqueued_at",
  "token",
  "finished_at"
] as const

/** Where the job stands in the indexes. */
export const encodePlace = (row: JobRow, lane: Lane) =>
  [
    lane.id,
    states.code(row.state),
    row.priority,
    row.place,
    row.runAt,
    row.enqueuedAt,
    row.token ?? null,
    row.finishedAt ?? null
  ] as const

/** Whether the job stands elsewhere in an index, but for its lease. */
export const isPlaceChanged = (before: JobRow, after: JobRow): boolean =>
  before.state !== after.state ||
  before.place !== after.place ||
  before.priority !== after.priority ||
  before.runAt !== after.runAt ||
  before.token !== after.token ||
  before.finishedAt !== after.finishedAt ||
  before.queue !== after.queue ||
  before.name !== after.name ||
  before.enqueuedAt !== after.enqueuedAt

/** The other columns of `status` that change, in the order of {@link encodeProgress}. */
export const progressColumns = [
  "lock_until",
  "processed_at",
  "attempts_made",
  "stalled_count",
  "ledger_length",
  "cancel_requested",
  "flow",
  "failed_reason",
  "exit"
] as const

/** How far the job has come. */
export const encodeProgress = (row: JobRow) =>
  [
    row.lockUntil ?? null,
    row.processedAt ?? null,
    row.attemptsMade,
    row.stalledCount,
    row.ledgerLength,
    row.cancelRequested ? 1 : 0,
    encodeField(row.flow),
    row.failedReason ?? null,
    row.exit ?? null
  ] as const
