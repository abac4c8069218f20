/**
 * The job store: the one seam between those who use jobs and whatever keeps them. A driver keeps them itself; a remote
 * store hands every call to a server. Whoever holds a {@link JobStore} cannot tell which.
 *
 * Every operation is atomic, takes its time from the Effect `Clock`, and refuses bad arguments with a `JobStoreError`
 * before it does anything. `docs/protocol.md` has the rules in full.
 */
import { Context, type Effect, type Option } from "effect"
import type {
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
import type { EnqueueRequest, EnqueueResult } from "./Enqueue.ts"
import type {
  JobNotCancellableError,
  JobNotFoundError,
  JobNotPromotableError,
  JobNotRetryableError,
  JobStoreError,
  LockLostError
} from "./Errors.ts"
import type { FlowChildPage, FlowChildReport, FlowReportResult, FlowSweepWork, OutboxEntry } from "./Flow.ts"
import type { AttemptRecord, JobRecord } from "./Job.ts"
import type { JobCounts, ListOptions, ListResult } from "./List.ts"
import type { JobId, JobName, LockToken, QueueName, ScheduleKey, WakeToken } from "./Scalars.ts"
import type { ScheduleFilter, ScheduleRecord } from "./Schedule.ts"

/** The 34 operations: effect-mq's 32, and two that do many at once. Times and durations are milliseconds. */
export interface Service {
  /**
   * Puts a job in: `delayed` when `delayMs` is above 0, else `waiting`. An existing id, or a dedupe key that holds, changes
   * nothing (but see `replace`) and answers `duplicate: true` with the id of the job that is there. Wakes takers.
   */
  readonly enqueue: (request: EnqueueRequest) => Effect.Effect<EnqueueResult, JobStoreError>

  /** Many enqueues in order, each on its own: a failure may leave some of them done. Results by position. */
  readonly enqueueMany: (
    requests: ReadonlyArray<EnqueueRequest>
  ) => Effect.Effect<ReadonlyArray<EnqueueResult>, JobStoreError>

  /**
   * Takes the best waiting job of the queue with one of the names: highest priority, then first in line. Due delayed jobs of
   * the queue become `waiting` first. A token that holds a live lock in that queue gets its job again, so a lost answer
   * costs nothing.
   */
  readonly claim: (options: ClaimOptions) => Effect.Effect<ClaimResult, JobStoreError>

  /**
   * Claims once a token, in their order and in one atomic step, until a token finds nothing; `empty` then says what that claim
   * would have said, and the tokens behind it are not used. Ends before the jobs pass the bytes of a page, with one at least:
   * what does not fit is not claimed. Every job is held, and settled, under its own token.
   */
  readonly claimMany: (options: ClaimManyOptions) => Effect.Effect<ClaimManyResult, JobStoreError>

  /**
   * Ends a run and writes its ledger entry. The same ack by the same token once more is a success that changes nothing;
   * another outcome is `LockLostError`. Complete and Fail win over a pending cancel; Retry and FanOut give way to it.
   */
  readonly ack: (
    id: JobId,
    token: LockToken,
    outcome: AckOutcome
  ) => Effect.Effect<void, JobStoreError | JobNotFoundError | LockLostError>

  /**
   * Many acks in order, each on its own: results by position, `Acked` or the error that `ack` would have failed with, also for
   * an item that it would have refused. A failure of the call may leave some of them done; it can be made again.
   */
  readonly ackMany: (acks: ReadonlyArray<Ack>) => Effect.Effect<ReadonlyArray<AckResult>, JobStoreError>

  /** Gives a claimed job back to its place in line: no attempt spent, no ledger entry. A pending cancel is honoured. */
  readonly release: (
    id: JobId,
    token: LockToken
  ) => Effect.Effect<void, JobStoreError | JobNotFoundError | LockLostError>

  /**
   * Heartbeat: each lock now ends `durationMs` from now, unless it is lost. Jobs somebody wants cancelled are reported and
   * not extended.
   */
  readonly extendLocks: (
    locks: ReadonlyArray<Lock>,
    durationMs: number
  ) => Effect.Effect<ExtendLocksResult, JobStoreError>

  /**
   * Takes back every active job whose lock has run out: cancelled if that was asked for (and not reported), failed when it
   * stalled more than `maxStalledCount` times, else waiting in its place again.
   */
  readonly recoverStalled: (options: RecoverStalledOptions) => Effect.Effect<ReadonlyArray<RecoveredJob>, JobStoreError>

  /**
   * Resolves when one of the queues may have got work since the claim that gave the token. Never misses such a moment; may
   * resolve without one. Interruptible, and leaves nothing behind.
   */
  readonly awaitWake: (queues: ReadonlyArray<QueueName>, wakeToken: WakeToken) => Effect.Effect<void, JobStoreError>

  /** The record of a job, or none. */
  readonly getJob: (id: JobId) => Effect.Effect<Option.Option<JobRecord>, JobStoreError>

  /** The runs of a job, oldest first; empty for an unknown id. */
  readonly getAttempts: (id: JobId) => Effect.Effect<ReadonlyArray<AttemptRecord>, JobStoreError>

  /** A page of jobs. Pages lose and repeat nothing among rows that do not change, also when all times tie. */
  readonly list: (options: ListOptions) => Effect.Effect<ListResult, JobStoreError>

  /** How many jobs are in each state, in one queue or in all. */
  readonly counts: (queue?: QueueName) => Effect.Effect<JobCounts, JobStoreError>

  /** Runs a failed job again: at the back of the line, with fresh attempts and stalls. Ledger and flow are kept. */
  readonly retry: (id: JobId) => Effect.Effect<void, JobStoreError | JobNotFoundError | JobNotRetryableError>

  /** Cancels: at once when nobody runs it, by request when somebody does. */
  readonly cancel: (id: JobId) => Effect.Effect<void, JobStoreError | JobNotFoundError | JobNotCancellableError>

  /** Cancels the pending job that holds a dedupe key; false when there is none. */
  readonly cancelByDedupe: (name: JobName, key: string) => Effect.Effect<boolean, JobStoreError>

  /** Makes a delayed job waiting now. */
  readonly promote: (id: JobId) => Effect.Effect<void, JobStoreError | JobNotFoundError | JobNotPromotableError>

  /** Deletes a job with its ledger and dependency rows; false when it is active, waiting for children, or unknown. */
  readonly remove: (id: JobId) => Effect.Effect<boolean, JobStoreError>

  /** Hands out nothing of this queue until `resume`. Durable. */
  readonly pause: (queue: QueueName) => Effect.Effect<void, JobStoreError>

  /** Ends a pause and wakes the takers. */
  readonly resume: (queue: QueueName) => Effect.Effect<void, JobStoreError>

  /** The queues that are paused. */
  readonly pausedQueues: () => Effect.Effect<ReadonlyArray<QueueName>, JobStoreError>

  /** Creates or replaces a schedule. With the same `cron`, `tz` and `everyMs` as before, `nextRunAt` stays. */
  readonly upsertSchedule: (schedule: ScheduleRecord) => Effect.Effect<void, JobStoreError>

  /** Deletes a schedule; false when there is none. */
  readonly removeSchedule: (key: ScheduleKey) => Effect.Effect<boolean, JobStoreError>

  /** The schedules that match all given filters. */
  readonly listSchedules: (filter?: ScheduleFilter) => Effect.Effect<ReadonlyArray<ScheduleRecord>, JobStoreError>

  /** The schedules whose `nextRunAt` has come, earliest first. */
  readonly dueSchedules: () => Effect.Effect<ReadonlyArray<ScheduleRecord>, JobStoreError>

  /**
   * In one step: if the schedule still stands at `expectedRunAt`, insert the job and move it to `nextRunAt`. True when it
   * did both; false when somebody else did, the key is unknown, or the job's id exists (then it only moves).
   */
  readonly tickSchedule: (
    key: ScheduleKey,
    expectedRunAt: number,
    nextRunAt: number,
    request: EnqueueRequest
  ) => Effect.Effect<boolean, JobStoreError>

  /** Moves a schedule from `expectedRunAt` to `nextRunAt`, or does nothing when it stands elsewhere. */
  readonly advanceSchedule: (
    key: ScheduleKey,
    expectedRunAt: number,
    nextRunAt: number
  ) => Effect.Effect<void, JobStoreError>

  /**
   * Writes the ends of children to their pending rows, then settles each touched parent at most once. Late, repeated and
   * unknown reports are not applied. Results by position.
   */
  readonly recordChildResults: (
    reports: ReadonlyArray<FlowChildReport>
  ) => Effect.Effect<ReadonlyArray<FlowReportResult>, JobStoreError>

  /** A page of a flow's dependency rows by child key; `limit` is 1000 unless given. */
  readonly listChildResults: (
    flowId: JobId,
    options?: { readonly cursor?: string | undefined; readonly limit?: number | undefined }
  ) => Effect.Effect<FlowChildPage, JobStoreError>

  /**
   * What a flow sweeper must look after; at most `limit` (1000) rows of each kind. A row returned to be reconciled is not
   * returned again for `pendingAgeMs`.
   */
  readonly flowSweepWork: (options: {
    readonly pendingAgeMs: number
    readonly limit?: number | undefined
  }) => Effect.Effect<FlowSweepWork, JobStoreError>

  /** The children's stores know of these cancels now. */
  readonly markChildrenCascaded: (flowId: JobId, childKeys: ReadonlyArray<string>) => Effect.Effect<void, JobStoreError>

  /** Reports that wait for delivery, oldest first, from behind `after`, whether or not that entry is still there. */
  readonly peekOutbox: (options: {
    readonly limit: number
    readonly after?: string | undefined
  }) => Effect.Effect<ReadonlyArray<OutboxEntry>, JobStoreError>

  /** Forgets delivered reports; unknown ids are ignored. */
  readonly deleteOutbox: (ids: ReadonlyArray<string>) => Effect.Effect<void, JobStoreError>
}

/** The job store of an application that has one. */
export class JobStore extends Context.Service<JobStore, Service>()("@jobwire/protocol/JobStore") {}

/** The identifier of a named store in an Effect's requirements. */
export interface Named<in out Name extends string> {
  readonly "~@jobwire/protocol/JobStore/Named": Name
}

/** The key of one of several stores in one application; the same name gives the same key. */
export const named = <const Name extends string>(name: Name): Context.Key<Named<Name>, Service> =>
  Context.Service<Named<Name>, Service>(`@jobwire/protocol/JobStore/${name}`)
