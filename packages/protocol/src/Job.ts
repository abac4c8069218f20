/** A job as a store returns it, and the ledger of its runs. */
import { Schema } from "effect"
import { maybe } from "./Field.ts"
import { JsonValue } from "./Json.ts"
import { BackoffPolicy, KeepPolicy } from "./Policy.ts"
import { DurationMs, EpochMs, JobId, JobName, Metadata, QueueName } from "./Scalars.ts"

/** Every state of a job. `completed`, `failed` and `cancelled` are terminal; `waiting-children` is a parked flow parent. */
export const JobState = Schema.Literals([
  "waiting",
  "delayed",
  "active",
  "waiting-children",
  "completed",
  "failed",
  "cancelled"
]).annotate({ identifier: "JobState" })
export type JobState = typeof JobState.Type

/** The states a job does not leave, but for `retry` of a failed one. */
export const TerminalState = Schema.Literals(["completed", "failed", "cancelled"])
export type TerminalState = typeof TerminalState.Type

/** Whether a job in this state is finished. */
export const isTerminal = Schema.is(TerminalState)

/** The span of the producer, so that the worker's span can join its trace. */
export const TraceContext = Schema.Struct({
  traceId: Schema.String,
  spanId: Schema.String,
  sampled: Schema.Boolean,
  /** Whether the producer asked for a later run: such a run starts a trace of its own, with a link. */
  delayed: Schema.Boolean
}).annotate({ identifier: "TraceContext" })
export type TraceContext = typeof TraceContext.Type

/** The way from a flow's child back to its parent, which may live in another store. */
export const ParentLink = Schema.Struct({
  flowName: Schema.String,
  flowId: JobId,
  childKey: Schema.String,
  parentStoreKey: Schema.String,
  /** 1 for the children of a top-level flow, one more at each level. */
  depth: Schema.Int
}).annotate({ identifier: "ParentLink" })
export type ParentLink = typeof ParentLink.Type

/** The counters of a flow parent. They always sum to the number of its children. */
export const FlowState = Schema.Struct({
  failFast: Schema.Boolean,
  pending: Schema.Int,
  completed: Schema.Int,
  failed: Schema.Int,
  cancelled: Schema.Int
}).annotate({ identifier: "FlowState" })
export type FlowState = typeof FlowState.Type

/** The complete record, the same from `getJob`, `list` and `claim`. */
export const JobRecord = Schema.Struct({
  id: JobId,
  name: JobName,
  queue: QueueName,
  payload: maybe(JsonValue),
  metadata: Metadata,
  state: JobState,
  /** Higher runs first. */
  priority: Schema.Int,
  /** Runs allowed, the first one included. */
  attemptsMax: Schema.Int,
  /** Runs that counted since the job was enqueued or retried by hand. */
  attemptsMade: Schema.Int,
  /** Leases that ran out since the job was enqueued or retried by hand. */
  stalledCount: Schema.Int,
  backoff: maybe(BackoffPolicy),
  keep: maybe(KeepPolicy),
  /** How long one run may take; the worker enforces it. */
  timeoutMs: maybe(DurationMs),
  /** Somebody asked to cancel while the job was active. */
  cancelRequested: Schema.Boolean,
  dedupeKey: maybe(Schema.String),
  trace: maybe(TraceContext),
  parent: maybe(ParentLink),
  /** Present once a flow parent has fanned out: from then on a claim means "collect". */
  flow: maybe(FlowState),
  /** Not to be claimed before. */
  runAt: EpochMs,
  enqueuedAt: EpochMs,
  /** When the latest claim began. */
  processedAt: maybe(EpochMs),
  finishedAt: maybe(EpochMs),
  /** What the last run of a completed or failed job ended with. */
  exit: maybe(JsonValue),
  /** Why the store itself failed the job: stalled too often, or a child of a fail-fast flow failed. */
  failedReason: maybe(Schema.String)
}).annotate({ identifier: "JobRecord" })
export type JobRecord = typeof JobRecord.Type

/** How a run ended. */
export const AttemptOutcome = Schema.Literals([
  "completed",
  "retried",
  "failed",
  "stalled",
  "cancelled",
  "fanned-out"
]).annotate({ identifier: "AttemptOutcome" })
export type AttemptOutcome = typeof AttemptOutcome.Type

/** One entry of the ledger: a run of the job, or an end that came without one. */
export const AttemptRecord = Schema.Struct({
  /** From 1, never reset. */
  attempt: Schema.Int,
  startedAt: maybe(EpochMs),
  finishedAt: EpochMs,
  outcome: AttemptOutcome,
  exit: maybe(JsonValue)
}).annotate({ identifier: "AttemptRecord" })
export type AttemptRecord = typeof AttemptRecord.Type
