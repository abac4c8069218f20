/** What a program is told about its job: payload on stdin, the rest in `JOBWIRE_*` variables. */
import type { JobRecord } from "@jobwire/protocol"

/** The text on stdin: the payload as one line of JSON, or nothing when the job has none. */
export const jobInput = ({ payload }: JobRecord): string =>
  payload === undefined ? "" : `${JSON.stringify(payload)}\n`

/** The variables of a job. What the job does not have is not set. */
export const jobEnvironment = (job: JobRecord, leaseMs: number): Record<string, string | undefined> => ({
  JOBWIRE_ID: job.id,
  JOBWIRE_NAME: job.name,
  JOBWIRE_QUEUE: job.queue,
  JOBWIRE_ATTEMPT: String(job.attemptsMade + 1),
  JOBWIRE_ATTEMPTS_MAX: String(job.attemptsMax),
  JOBWIRE_STALLED: String(job.stalledCount),
  JOBWIRE_PRIORITY: String(job.priority),
  JOBWIRE_METADATA: JSON.stringify(job.metadata),
  JOBWIRE_ENQUEUED_AT: new Date(job.enqueuedAt).toISOString(),
  JOBWIRE_LEASE_MS: String(leaseMs),
  JOBWIRE_TIMEOUT_MS: job.timeoutMs === undefined ? undefined : String(job.timeoutMs),
  JOBWIRE_DEDUPE_KEY: job.dedupeKey,
  JOBWIRE_FLOW_ID: job.parent?.flowId,
  JOBWIRE_CHILD_KEY: job.parent?.childKey,
  TRACEPARENT: traceparent(job)
})

// Only ids of the form that W3C Trace Context has can go on as one.
const traceparent = ({ trace }: JobRecord): string | undefined =>
  trace !== undefined && /^[0-9a-f]{32}$/.test(trace.traceId) && /^[0-9a-f]{16}$/.test(trace.spanId)
    ? `00-${trace.traceId}-${trace.spanId}-${trace.sampled ? "01" : "00"}`
    : undefined
