/**
 * The 34 operations of a job store (effect-mq's 32, and two that do many at once), each described once: its parameters in the order of the service's method, what it
 * answers, which errors it has beside `JobStoreError`, the scope a caller needs, and what a second delivery does.
 *
 * The service, the RPC group, the handlers, the remote client and the documents are made from, or compared with, this table.
 */
import { Schema } from "effect"
import {
  Ack,
  AckOutcome,
  AckResult,
  ClaimManyOptions,
  ClaimManyResult,
  ClaimOptions,
  ClaimResult,
  ExtendLocksResult,
  Lock,
  RecoveredJob,
  RecoverStalledOptions
} from "./Claim.ts"
import { EnqueueRequest, EnqueueResult } from "./Enqueue.ts"
import {
  JobNotCancellableError,
  JobNotFoundError,
  JobNotPromotableError,
  JobNotRetryableError,
  JobStoreError,
  LockLostError
} from "./Errors.ts"
import { maybe } from "./Field.ts"
import { FlowChildPage, FlowChildReport, FlowReportResult, FlowSweepWork, OutboxEntry } from "./Flow.ts"
import { AttemptRecord, JobRecord } from "./Job.ts"
import { JobCounts, ListOptions, ListResult } from "./List.ts"
import { DurationMs, EpochMs, JobId, JobName, LockToken, QueueName, ScheduleKey, WakeToken } from "./Scalars.ts"
import { ScheduleFilter, ScheduleRecord } from "./Schedule.ts"

/** What a caller must be allowed to do. `admin` does not include the others. */
export const Scope = Schema.Literals(["produce", "work", "read", "admin"])
export type Scope = typeof Scope.Type

/**
 * Why a second delivery of the same call does no harm, and is answered as the first.
 * - `safe`: by nature; it ends as the first did and changes nothing more.
 * - `remembered`: the job remembers the call: by the token that holds it or ended its run, by the id that was made of the call's key.
 * - `receipt`: the answer is kept under the call's key for a while. Without a key it may act or answer differently, so a caller that
 *   does not know whether the first arrived must look.
 */
export type Repeat = "safe" | "remembered" | "receipt"

/** A parameter: its name on the wire and its schema. */
export type Parameter = readonly [name: string, schema: Schema.Top]

/** The description of one operation. */
export interface Operation<
  Parameters extends ReadonlyArray<Parameter>,
  Success extends Schema.Top,
  Failure extends Schema.Top
> {
  readonly parameters: Parameters
  readonly success: Success
  readonly error: Failure
  readonly scope: Scope
  readonly repeat: Repeat
}

const operation = <
  const Parameters extends ReadonlyArray<Parameter>,
  Success extends Schema.Top,
  Failure extends Schema.Top = typeof JobStoreError
>(description: {
  readonly parameters: Parameters
  readonly success: Success
  readonly error?: Failure
  readonly scope: Scope
  readonly repeat: Repeat
}): Operation<Parameters, Success, Failure> => ({
  ...description,
  // `Failure` is `typeof JobStoreError` exactly when no `error` is given.
  error: description.error ?? (JobStoreError as Schema.Top as Failure)
})

const LockErrors = Schema.Union([JobStoreError, JobNotFoundError, LockLostError])

/** The table. Its keys are the names of the operations on the wire and of the service's methods. */
export const operations = {
  enqueue: operation({
    parameters: [["request", EnqueueRequest]],
    success: EnqueueResult,
    scope: "produce",
    repeat: "remembered"
  }),
  enqueueMany: operation({
    parameters: [["requests", Schema.Array(EnqueueRequest)]],
    success: Schema.Array(EnqueueResult),
    scope: "produce",
    repeat: "remembered"
  }),
  claim: operation({
    parameters: [["options", ClaimOptions]],
    success: ClaimResult,
    scope: "work",
    repeat: "remembered"
  }),
  claimMany: operation({
    parameters: [["options", ClaimManyOptions]],
    success: ClaimManyResult,
    scope: "work",
    repeat: "remembered"
  }),
  ack: operation({
    parameters: [
      ["id", JobId],
      ["token", LockToken],
      ["outcome", AckOutcome]
    ],
    success: Schema.Void,
    error: LockErrors,
    scope: "work",
    repeat: "remembered"
  }),
  ackMany: operation({
    parameters: [["acks", Schema.Array(Ack)]],
    success: Schema.Array(AckResult),
    scope: "work",
    repeat: "remembered"
  }),
  release: operation({
    parameters: [
      ["id", JobId],
      ["token", LockToken]
    ],
    success: Schema.Void,
    error: LockErrors,
    scope: "work",
    repeat: "receipt"
  }),
  extendLocks: operation({
    parameters: [
      ["locks", Schema.Array(Lock)],
      ["durationMs", DurationMs]
    ],
    success: ExtendLocksResult,
    scope: "work",
    repeat: "safe"
  }),
  recoverStalled: operation({
    parameters: [["options", RecoverStalledOptions]],
    success: Schema.Array(RecoveredJob),
    scope: "work",
    repeat: "receipt"
  }),
  awaitWake: operation({
    parameters: [
      ["queues", Schema.Array(QueueName)],
      ["wakeToken", WakeToken]
    ],
    success: Schema.Void,
    scope: "work",
    repeat: "safe"
  }),
  getJob: operation({
    parameters: [["id", JobId]],
    success: Schema.OptionFromNullOr(JobRecord),
    scope: "read",
    repeat: "safe"
  }),
  getAttempts: operation({
    parameters: [["id", JobId]],
    success: Schema.Array(AttemptRecord),
    scope: "read",
    repeat: "safe"
  }),
  list: operation({
    parameters: [["options", ListOptions]],
    success: ListResult,
    scope: "read",
    repeat: "safe"
  }),
  counts: operation({
    parameters: [["queue", maybe(QueueName)]],
    success: JobCounts,
    scope: "read",
    repeat: "safe"
  }),
  retry: operation({
    parameters: [["id", JobId]],
    success: Schema.Void,
    error: Schema.Union([JobStoreError, JobNotFoundError, JobNotRetryableError]),
    scope: "admin",
    repeat: "receipt"
  }),
  cancel: operation({
    parameters: [["id", JobId]],
    success: Schema.Void,
    error: Schema.Union([JobStoreError, JobNotFoundError, JobNotCancellableError]),
    scope: "produce",
    repeat: "receipt"
  }),
  cancelByDedupe: operation({
    parameters: [
      ["name", JobName],
      ["key", Schema.String]
    ],
    success: Schema.Boolean,
    scope: "produce",
    repeat: "receipt"
  }),
  promote: operation({
    parameters: [["id", JobId]],
    success: Schema.Void,
    error: Schema.Union([JobStoreError, JobNotFoundError, JobNotPromotableError]),
    scope: "admin",
    repeat: "receipt"
  }),
  remove: operation({
    parameters: [["id", JobId]],
    success: Schema.Boolean,
    scope: "admin",
    repeat: "receipt"
  }),
  pause: operation({
    parameters: [["queue", QueueName]],
    success: Schema.Void,
    scope: "admin",
    repeat: "receipt"
  }),
  resume: operation({
    parameters: [["queue", QueueName]],
    success: Schema.Void,
    scope: "admin",
    repeat: "receipt"
  }),
  pausedQueues: operation({
    parameters: [],
    success: Schema.Array(QueueName),
    scope: "read",
    repeat: "safe"
  }),
  upsertSchedule: operation({
    parameters: [["schedule", ScheduleRecord]],
    success: Schema.Void,
    scope: "produce",
    repeat: "receipt"
  }),
  removeSchedule: operation({
    parameters: [["key", ScheduleKey]],
    success: Schema.Boolean,
    scope: "produce",
    repeat: "receipt"
  }),
  listSchedules: operation({
    parameters: [["filter", maybe(ScheduleFilter)]],
    success: Schema.Array(ScheduleRecord),
    scope: "read",
    repeat: "safe"
  }),
  dueSchedules: operation({
    parameters: [],
    success: Schema.Array(ScheduleRecord),
    scope: "work",
    repeat: "safe"
  }),
  tickSchedule: operation({
    parameters: [
      ["key", ScheduleKey],
      ["expectedRunAt", EpochMs],
      ["nextRunAt", EpochMs],
      ["request", EnqueueRequest]
    ],
    success: Schema.Boolean,
    scope: "work",
    repeat: "receipt"
  }),
  advanceSchedule: operation({
    parameters: [
      ["key", ScheduleKey],
      ["expectedRunAt", EpochMs],
      ["nextRunAt", EpochMs]
    ],
    success: Schema.Void,
    scope: "work",
    repeat: "receipt"
  }),
  recordChildResults: operation({
    parameters: [["reports", Schema.Array(FlowChildReport)]],
    success: Schema.Array(FlowReportResult),
    scope: "work",
    repeat: "receipt"
  }),
  listChildResults: operation({
    parameters: [
      ["flowId", JobId],
      ["options", maybe(Schema.Struct({ cursor: maybe(Schema.String), limit: maybe(Schema.Int) }))]
    ],
    success: FlowChildPage,
    scope: "read",
    repeat: "safe"
  }),
  flowSweepWork: operation({
    parameters: [["options", Schema.Struct({ pendingAgeMs: DurationMs, limit: maybe(Schema.Int) })]],
    success: FlowSweepWork,
    scope: "work",
    repeat: "receipt"
  }),
  markChildrenCascaded: operation({
    parameters: [
      ["flowId", JobId],
      ["childKeys", Schema.Array(Schema.String)]
    ],
    success: Schema.Void,
    scope: "work",
    repeat: "safe"
  }),
  peekOutbox: operation({
    parameters: [["options", Schema.Struct({ limit: Schema.Int, after: maybe(Schema.String) })]],
    success: Schema.Array(OutboxEntry),
    scope: "work",
    repeat: "safe"
  }),
  deleteOutbox: operation({
    parameters: [["ids", Schema.Array(Schema.String)]],
    success: Schema.Void,
    scope: "work",
    repeat: "safe"
  })
} as const

/** The operations by name. */
export type Operations = typeof operations

/** The name of an operation. */
export type OperationName = keyof Operations

/** Every name, in the order of the table. */
// `Object.keys` of the constant table gives exactly its keys.
export const operationNames = Object.keys(operations) as ReadonlyArray<OperationName>

type TypesOf<Parameters extends ReadonlyArray<Parameter>> = {
  -readonly [Index in keyof Parameters]: Parameters[Index][1]["Type"]
}

/** The arguments of an operation, in order. */
export type Arguments<Name extends OperationName> = TypesOf<Operations[Name]["parameters"]>

/** What an operation answers. */
export type Success<Name extends OperationName> = Operations[Name]["success"]["Type"]

/** The errors of an operation. */
export type Failure<Name extends OperationName> = Operations[Name]["error"]["Type"]

/** The arguments of an operation under their names on the wire. */
export type Payload<Name extends OperationName> = {
  readonly [Field in Operations[Name]["parameters"][number] as Field[0]]: Field[1]["Type"]
}
