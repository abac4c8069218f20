/**
 * A job store over tables: the operations stand here once, and a driver brings only its tables and how a unit of work
 * is committed.
 */
import { type JobStore, Limits, Validation } from "@jobwire/protocol"
import { Effect, type Scope } from "effect"
import { WakeHub } from "../wake/WakeHub.ts"
import { awaitWake, claim, claimMany } from "./ClaimOperations.ts"
import { Engine } from "./Engine.ts"
import { enqueue, enqueueMany } from "./EnqueueOperations.ts"
import { flowSweepWork, listChildResults, markChildrenCascaded, recordChildResults } from "./FlowOperations.ts"
import * as HistorySweep from "./HistorySweep.ts"
import { cancel, cancelByDedupe, promote, remove, retry } from "./JobOperations.ts"
import { ack, ackMany, extendLocks, recoverStalled, release } from "./LeaseOperations.ts"
import { deleteOutbox, peekOutbox } from "./OutboxOperations.ts"
import { counts, getAttempts, getJob, list } from "./QueryOperations.ts"
import { pause, pausedQueues, resume } from "./QueueOperations.ts"
import {
  advanceSchedule,
  dueSchedules,
  listSchedules,
  removeSchedule,
  tickSchedule,
  upsertSchedule
} from "./ScheduleOperations.ts"
import { remembered } from "./Receipts.ts"
import type { Storage } from "./Storage.ts"
import { historyTtlMs, type StoreOptions } from "./StoreOptions.ts"

/**
 * The store over this storage, with validation by the limits in force and wake-ups within this process. The scope bounds
 * its sweeper of finished jobs.
 */
export const make: (storage: Storage, options?: StoreOptions) => Effect.Effect<JobStore.Service, never, Scope.Scope> =
  Effect.fnUntraced(function* (storage, options = {}) {
    const limits = yield* Limits.CurrentLimits
    const engine = new Engine(storage, new WakeHub(), limits, options.idGenerator)
    yield* Effect.forkScoped(
      HistorySweep.forever(engine, historyTtlMs(options.historyTtl), options.historySweepInterval ?? "1 minute")
    )
    return Validation.validated(operations(engine), limits)
  })

/** The operations of an engine, without validation. */
export const operations = (engine: Engine): JobStore.Service =>
  remembered({
    enqueue: enqueue(engine),
    enqueueMany: enqueueMany(engine),
    claim: claim(engine),
    claimMany: claimMany(engine),
    ack: ack(engine),
    ackMany: ackMany(engine),
    release: release(engine),
    extendLocks: extendLocks(engine),
    recoverStalled: recoverStalled(engine),
    awaitWake: awaitWake(engine),
    getJob: getJob(engine),
    getAttempts: getAttempts(engine),
    list: list(engine),
    counts: counts(engine),
    retry: retry(engine),
    cancel: cancel(engine),
    cancelByDedupe: cancelByDedupe(engine),
    promote: promote(engine),
    remove: remove(engine),
    pause: pause(engine),
    resume: resume(engine),
    pausedQueues: pausedQueues(engine),
    upsertSchedule: upsertSchedule(engine),
    removeSchedule: removeSchedule(engine),
    listSchedules: listSchedules(engine),
    dueSchedules: dueSchedules(engine),
    tickSchedule: tickSchedule(engine),
    advanceSchedule: advanceSchedule(engine),
    recordChildResults: recordChildResults(engine),
    listChildResults: listChildResults(engine),
    flowSweepWork: flowSweepWork(engine),
    markChildrenCascaded: markChildrenCascaded(engine),
    peekOutbox: peekOutbox(engine),
    deleteOutbox: deleteOutbox(engine)
  })
