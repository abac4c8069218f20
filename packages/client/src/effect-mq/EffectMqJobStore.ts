/** A Jobwire store with the methods, the errors and the numbers of effect-mq's `JobStore`. */
import {
  type AckOutcome,
  branded,
  type JobId,
  type JobStore as Ours,
  type Limits,
  type LockToken,
  type Unbranded
} from "@jobwire/protocol"
import { Effect } from "effect"
import type { JobStore as Theirs } from "effect-mq"
import { toCount, toDuration, toOutcome, toRequest, toSchedule } from "./Arguments.ts"
import { fillOutboxPage, fillPage, inBatches, reportBatches } from "./Batches.ts"
import { type TheirError, toTheirError } from "./Errors.ts"
import { storable } from "./Unstorable.ts"
import { makeWakeNumbers } from "./WakeNumbers.ts"

type OurError = Parameters<typeof toTheirError>[0]

/** Our answer with their brands and their errors. */
const answer = <A, E extends OurError>(
  ours: Effect.Effect<Unbranded<NoInfer<A>>, E>
): Effect.Effect<A, TheirError<E>> =>
  Effect.mapBoth(ours, { onSuccess: (value) => branded<A>(value), onFailure: toTheirError })

type Methods<Name extends keyof Theirs.Service> = Pick<Theirs.Service, Name>

const producing = (
  store: Ours.Service,
  limits: Limits.Limits
): Methods<"enqueue" | "enqueueMany" | "cancel" | "cancelByDedupe"> => ({
  enqueue: (request) => answer(store.enqueue(toRequest(request, limits))),
  enqueueMany: (requests) =>
    answer(
      inBatches(
        requests.map((request) => toRequest(request, limits)),
        limits,
        store.enqueueMany
      ).pipe(Effect.map((batches) => batches.flat()))
    ),
  cancel: (id) => answer(store.cancel(id)),
  cancelByDedupe: (name, key) => answer(store.cancelByDedupe(name, key))
})

const working = (
  store: Ours.Service,
  limits: Limits.Limits
): Methods<"claim" | "ack" | "release" | "extendLocks" | "recoverStalled" | "awaitWake"> => {
  const wakeNumbers = makeWakeNumbers()
  return {
    claim: (options) =>
      answer(
        Effect.map(store.claim({ ...options, lockDurationMs: toDuration(options.lockDurationMs, limits) }), (result) =>
          result._tag === "Empty" ? { ...result, wakeToken: wakeNumbers.toNumber(result.wakeToken) } : result
        )
      ),
    ack: (id, token, outcome) => answer(ackStorable(store, id, token, toOutcome(outcome, limits))),
    release: (id, token) => answer(store.release(id, token)),
    extendLocks: (locks, durationMs) =>
      answer(
        Effect.map(
          inBatches(locks, limits, (batch) => store.extendLocks(batch, toDuration(durationMs, limits))),
          (results) => ({
            lost: results.flatMap((result) => result.lost),
            cancelRequested: results.flatMap((result) => result.cancelRequested)
          })
        )
      ),
    recoverStalled: (options) => answer(store.recoverStalled({ maxStalledCount: toCount(options.maxStalledCount) })),
    awaitWake: (queues, wakeNumber) => {
      const token = wakeNumbers.toToken(wakeNumber)
      // A wake for nothing is allowed, a missed one is not.
      return token === undefined ? Effect.void : answer(store.awaitWake(queues, token))
    }
  }
}

// The outcome is acknowledged without what the store refuses, where the run would be repeated otherwise.
const ackStorable = (store: Ours.Service, id: JobId, token: LockToken, outcome: AckOutcome) =>
  store.ack(id, token, outcome).pipe(
    Effect.catchTag("JobStoreError", (refusal) => {
      const instead = storable(outcome, refusal)
      if (instead === undefined) return Effect.fail(refusal)
      return Effect.logError(`job ${JSON.stringify(id)} ends as ${instead._tag}: ${refusal.message}`).pipe(
        Effect.andThen(store.ack(id, token, instead))
      )
    })
  )

const looking = (
  store: Ours.Service,
  limits: Limits.Limits
): Methods<
  "getJob" | "getAttempts" | "list" | "counts" | "retry" | "promote" | "remove" | "pause" | "resume" | "pausedQueues"
> => ({
  getJob: (id) => answer(store.getJob(id)),
  getAttempts: (id) => answer(store.getAttempts(id)),
  list: (options) =>
    answer(
      fillPage(toCount(options.limit ?? 50, 1), options.cursor, (limit, cursor) =>
        store.list({ ...options, cursor, limit: Math.min(limit, limits.pageLength) })
      )
    ),
  counts: (queue) => answer(store.counts(queue)),
  retry: (id) => answer(store.retry(id)),
  promote: (id) => answer(store.promote(id)),
  remove: (id) => answer(store.remove(id)),
  pause: (queue) => answer(store.pause(queue)),
  resume: (queue) => answer(store.resume(queue)),
  pausedQueues: () => answer(store.pausedQueues())
})

const scheduling = (
  store: Ours.Service,
  limits: Limits.Limits
): Methods<
  "upsertSchedule" | "removeSchedule" | "listSchedules" | "dueSchedules" | "tickSchedule" | "advanceSchedule"
> => ({
  upsertSchedule: (schedule) => answer(store.upsertSchedule(toSchedule(schedule, limits))),
  removeSchedule: (key) => answer(store.removeSchedule(key)),
  listSchedules: (filter) => answer(store.listSchedules(filter)),
  dueSchedules: () => answer(store.dueSchedules()),
  tickSchedule: (key, expectedRunAt, nextRunAt, request) =>
    answer(store.tickSchedule(key, expectedRunAt, nextRunAt, toRequest(request, limits))),
  advanceSchedule: (key, expectedRunAt, nextRunAt) => answer(store.advanceSchedule(key, expectedRunAt, nextRunAt))
})

const flowing = (
  store: Ours.Service,
  limits: Limits.Limits
): Methods<
  "recordChildResults" | "listChildResults" | "flowSweepWork" | "markChildrenCascaded" | "peekOutbox" | "deleteOutbox"
> => ({
  recordChildResults: (reports) =>
    answer(
      Effect.forEach(reportBatches(reports, limits), store.recordChildResults).pipe(
        Effect.map((batches) => batches.flat())
      )
    ),
  listChildResults: (flowId, options) =>
    answer(
      fillPage(toCount(options?.limit ?? 1000, 1), options?.cursor, (limit, cursor) =>
        store.listChildResults(flowId, { cursor, limit: Math.min(limit, limits.pageLength) })
      )
    ),
  flowSweepWork: ({ limit, pendingAgeMs }) =>
    answer(
      store.flowSweepWork({
        pendingAgeMs: toDuration(pendingAgeMs, limits),
        limit: limit === undefined ? undefined : Math.min(toCount(limit, 1), limits.pageLength)
      })
    ),
  markChildrenCascaded: (flowId, childKeys) =>
    answer(Effect.asVoid(inBatches(childKeys, limits, (batch) => store.markChildrenCascaded(flowId, batch)))),
  peekOutbox: ({ after, limit }) =>
    answer(
      fillOutboxPage(toCount(limit), after === "" ? undefined : after, limits, (limit, after) =>
        store.peekOutbox({ limit: Math.min(limit, limits.pageLength), after })
      )
    ),
  deleteOutbox: (ids) => answer(Effect.asVoid(inBatches(ids, limits, store.deleteOutbox)))
})

/** The store as effect-mq's. `limits` must be those of the store, or smaller. */
export const make = (store: Ours.Service, limits: Limits.Limits): Theirs.Service => ({
  ...producing(store, limits),
  ...working(store, limits),
  ...looking(store, limits),
  ...scheduling(store, limits),
  ...flowing(store, limits)
})
