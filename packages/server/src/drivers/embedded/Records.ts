/** Rows as callers see them: values parsed anew for every reader, and nothing that only the store knows. */
import {
  type AttemptRecord,
  EnqueueRequest,
  type FlowCascadeChild,
  type FlowChildRecord,
  type FlowChildSpec,
  type JobRecord,
  Json,
  type OutboxEntry
} from "@jobwire/protocol"
import { Schema } from "effect"
import type { AttemptRow, ChildRow, JobRow, JsonText, OutboxRow } from "../../core/JobRow.ts"
import { fromText } from "../../core/JsonText.ts"

/** The record of a job. */
export const jobRecord = (row: JobRow): JobRecord => ({
  id: row.id,
  name: row.name,
  queue: row.queue,
  payload: fromText(row.payload),
  metadata: row.metadata,
  state: row.state,
  priority: row.priority,
  attemptsMax: row.attemptsMax,
  attemptsMade: row.attemptsMade,
  stalledCount: row.stalledCount,
  backoff: row.backoff,
  keep: row.keep,
  timeoutMs: row.timeoutMs,
  cancelRequested: row.cancelRequested,
  dedupeKey: row.dedupeKey,
  trace: row.trace,
  parent: row.parent,
  flow: row.flow,
  runAt: row.runAt,
  enqueuedAt: row.enqueuedAt,
  processedAt: row.processedAt,
  finishedAt: row.finishedAt,
  exit: fromText(row.exit),
  failedReason: row.failedReason
})

/** A ledger entry. */
export const attemptRecord = (row: AttemptRow): AttemptRecord => ({
  attempt: row.attempt,
  startedAt: row.startedAt,
  finishedAt: row.finishedAt,
  outcome: row.outcome,
  exit: fromText(row.exit)
})

/** Where a child stands. */
export const childRecord = (row: ChildRow): FlowChildRecord => ({
  flowId: row.flowId,
  childKey: row.childKey,
  name: row.name,
  storeKey: row.storeKey,
  childJobId: row.childJobId,
  status: row.status,
  exit: fromText(row.exit),
  failedReason: row.failedReason,
  cascaded: row.cascaded
})

const decodeRequest = Schema.decodeUnknownSync(EnqueueRequest)

/** A child with the complete request it was fanned out with. */
export const childSpec = (row: ChildRow): FlowChildSpec => ({
  childKey: row.childKey,
  storeKey: row.storeKey,
  request: decodeRequest(JSON.parse(row.request))
})

/** A child whose store is owed a cancel. */
export const cascadeChild = (row: ChildRow): FlowCascadeChild => ({
  childKey: row.childKey,
  storeKey: row.storeKey,
  childJobId: row.childJobId
})

const outboxIdPattern = /^out-(\d{1,15})$/

/** A report that waits for delivery. */
export const outboxEntry = (row: OutboxRow): OutboxEntry => ({
  id: `out-${row.seq}`,
  flowName: row.flowName,
  parentStoreKey: row.parentStoreKey,
  report: { ...row.report, exit: fromText(row.report.exit) }
})

/** The number of an outbox entry, or `undefined` when no entry ever had this id. */
export const outboxSeq = (id: string): number | undefined => {
  const match = outboxIdPattern.exec(id)
  return match === null ? undefined : Number(match[1])
}

const bytesOf = (text: JsonText): number => (text === undefined ? 0 : Json.utf8Length(text))

/** The bytes of a job's values, for the size of a page. */
export const jobBytes = (row: JobRow): number =>
  bytesOf(row.payload) + bytesOf(row.exit) + Json.byteLength(row.metadata)

/** The bytes of a child's exit. */
export const childBytes = (row: ChildRow): number => bytesOf(row.exit) + bytesOf(row.failedReason)

/** The bytes of a child's request. */
export const requestBytes = (row: ChildRow): number => bytesOf(row.request)

/** The bytes of a report's exit. */
export const outboxBytes = (row: OutboxRow): number => bytesOf(row.report.exit) + bytesOf(row.report.failedReason)
