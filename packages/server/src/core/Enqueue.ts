/** The row of a new job, and of a delayed job whose content a later enqueue replaces. */
import type { EnqueueRequest } from "@jobwire/protocol"
import type { JobRow } from "./JobRow.ts"
import { toText } from "./JsonText.ts"
import { backoffPolicy, frozen, keepPolicy, metadataOf, optionally } from "./RunFields.ts"
import { wholeMs } from "./Time.ts"

/** What a request says a job shall do; the part of a row that a replacing enqueue renews. */
type Content = Pick<
  JobRow,
  "payload" | "metadata" | "priority" | "attemptsMax" | "backoff" | "keep" | "timeoutMs" | "trace" | "runAt"
>

const content = (request: EnqueueRequest, now: number): Content => ({
  payload: toText(request.payload),
  metadata: metadataOf(request.metadata),
  priority: request.priority,
  attemptsMax: request.attemptsMax,
  backoff: optionally(request.backoff, backoffPolicy),
  keep: optionally(request.keep, keepPolicy),
  timeoutMs: optionally(request.timeoutMs, wholeMs),
  trace: optionally(request.trace, frozen),
  runAt: now + wholeMs(request.delayMs)
})

/** A new job under this id, `seq` being its number in the store and its place in line. */
export const newJob = (id: string, seq: number, request: EnqueueRequest, now: number, call?: string): JobRow => {
  const { attemptsMax, backoff, keep, metadata, payload, priority, runAt, timeoutMs, trace } = content(request, now)
  return {
    id,
    seq,
    place: seq,
    name: request.name,
    queue: request.queue,
    payload,
    metadata,
    state: request.delayMs > 0 ? "delayed" : "waiting",
    priority,
    attemptsMax,
    attemptsMade: 0,
    stalledCount: 0,
    backoff,
    keep,
    timeoutMs,
    cancelRequested: false,
    dedupeKey: request.dedupe?.key,
    trace,
    parent: optionally(request.parent, frozen),
    flow: undefined,
    runAt,
    enqueuedAt: now,
    processedAt: undefined,
    finishedAt: undefined,
    exit: undefined,
    failedReason: undefined,
    token: undefined,
    lockUntil: undefined,
    ledgerLength: 0,
    call
  }
}

/** The delayed job with the content and the delay of a later enqueue; it keeps its id, its place and its ledger. */
export const replace = (row: JobRow, request: EnqueueRequest, now: number): JobRow => ({
  ...row,
  ...content(request, now)
})
