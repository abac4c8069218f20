/** An effect-mq store as a driver: the methods, the errors and the tokens of our contract. */
import {
  type AckOutcome,
  branded,
  type ClaimOptions,
  type ClaimResult,
  type EnqueueRequest,
  type EnqueueResult,
  FlowSweepWork,
  type JobId,
  JobNotFoundError,
  JobRecord,
  type JobStore as Ours,
  type Limits,
  type ListOptions,
  LockLostError,
  type LockToken,
  type QueueName,
  ScheduleRecord,
  Validation
} from "@jobwire/protocol"
import { Effect, Option } from "effect"
import type { JobStore as Theirs } from "effect-mq"
import * as Cursors from "./Cursors.ts"
import { logFault, type OurError, refuseUnsupportedOrder, toOurError } from "./Errors.ts"
import { ackMany, claimMany } from "./Many.ts"
import { fitting, jobBytes, valueBytes } from "./Pages.ts"
import { type Claims, fingerprint, makeRuns, type Runs } from "./Runs.ts"
import { makeWakeTokens, type WakeTokens } from "./WakeTokens.ts"

type TheirError = Parameters<typeof toOurError>[0]
type Methods<Name extends keyof Ours.Service> = Pick<Ours.Service, Name>

/** Runs a call of the driver: its errors become ours, and a fault is logged with its cause. */
const run = <A, E extends TheirError>(
  operation: keyof Ours.Service,
  theirs: Effect.Effect<A, E>
): Effect.Effect<A, OurError<E>> =>
  theirs.pipe(
    Effect.tapError((error) => logFault(operation, error)),
    Effect.mapError(toOurError)
  )

// effect-mq's records leave out keys that are `undefined`; ours have them all. The driver's values are not checked again.
const unchecked = { disableChecks: true }
const toJob = (job: Theirs.JobRecord): JobRecord => JobRecord.make(job, unchecked)

// effect-mq's drivers add a delay to the clock as it is, and a moment is a whole number of milliseconds.
const toRequest = (request: EnqueueRequest): EnqueueRequest => ({ ...request, delayMs: Math.ceil(request.delayMs) })
const toOutcome = (outcome: AckOutcome): AckOutcome =>
  outcome._tag === "Retry" ? { ...outcome, delayMs: Math.ceil(outcome.delayMs) } : outcome

const producing = (
  store: Theirs.Service,
  runs: Runs
): Methods<"enqueue" | "enqueueMany" | "cancel" | "cancelByDedupe"> => {
  const remember = ({ duplicate, id }: EnqueueResult): void => {
    if (!duplicate) runs.forget(id)
  }
  return {
    enqueue: (request) =>
      run("enqueue", store.enqueue(branded(toRequest(request)))).pipe(
        Effect.tap((result) => Effect.sync(() => remember(result)))
      ),
    enqueueMany: (requests) =>
      run("enqueueMany", store.enqueueMany(branded(requests.map(toRequest)))).pipe(
        Effect.tap((results) => Effect.sync(() => results.forEach(remember)))
      ),
    cancel: (id) => run("cancel", store.cancel(branded(id))),
    cancelByDedupe: (name, key) => run("cancelByDedupe", store.cancelByDedupe(name, key))
  }
}

const working = (
  store: Theirs.Service,
  runs: Runs,
  limits: Limits.Limits,
  origin: string
): Methods<"claim" | "claimMany" | "ack" | "ackMany" | "release" | "extendLocks" | "recoverStalled" | "awaitWake"> => {
  const wakeTokens = makeWakeTokens(origin)
  const claim: Ours.Service["claim"] = (options) =>
    runs.withToken(options.token, (claims) => claimOnce(store, runs, wakeTokens, claims, options))
  const ack: Ours.Service["ack"] = (id, token, outcome) =>
    runs.withToken(token, () => ackOnce(store, runs, id, token, outcome))
  return {
    claim,
    claimMany: claimMany(claim, limits),
    ack,
    ackMany: ackMany(ack),
    release: (id, token) =>
      runs.withToken(token, (claims) =>
        Effect.tap(run("release", store.release(branded(id), token)), () => Effect.sync(() => giveUp(claims, id)))
      ),
    extendLocks: (locks, durationMs) => run("extendLocks", store.extendLocks(branded(locks), durationMs)),
    recoverStalled: (options) => run("recoverStalled", store.recoverStalled(options)),
    awaitWake: (queues, token) => {
      const wakeNumber = wakeTokens.toNumber(token)
      // A wake for nothing is allowed, a missed one is not.
      return wakeNumber === undefined ? Effect.void : run("awaitWake", store.awaitWake(branded(queues), wakeNumber))
    }
  }
}

const claimOnce = Effect.fnUntraced(function* (
  store: Theirs.Service,
  runs: Runs,
  wakeTokens: WakeTokens,
  claims: Claims,
  options: ClaimOptions
) {
  const before = claims.get(options.queue)
  if (before !== undefined && runs.settlement(before, options.token) === undefined) {
    const held = yield* heldJob(store, before, options)
    if (Option.isSome(held)) return { _tag: "Claimed", job: toJob(held.value) } satisfies ClaimResult
  }
  const result = yield* run("claim", store.claim(branded(options)))
  if (result._tag === "Empty") {
    return { ...result, wakeToken: wakeTokens.toToken(result.wakeToken) } satisfies ClaimResult
  }
  claims.set(options.queue, result.job.id)
  runs.unsettle(result.job.id, options.token)
  return { _tag: "Claimed", job: toJob(result.job) } satisfies ClaimResult
})

const ackOnce = Effect.fnUntraced(function* (
  store: Theirs.Service,
  runs: Runs,
  id: JobId,
  token: LockToken,
  outcome: AckOutcome
) {
  const before = runs.settlement(id, token)
  if (before === undefined) {
    yield* run("ack", store.ack(branded(id), token, branded(toOutcome(outcome))))
    return runs.settle(id, token, outcome)
  }
  const job = yield* run("ack", store.getJob(branded(id)))
  if (Option.isNone(job)) return yield* new JobNotFoundError({ jobId: id })
  if (before !== fingerprint(outcome)) return yield* new LockLostError({ jobId: id })
})

const giveUp = (claims: Claims, id: JobId): void => {
  for (const [queue, claimed] of claims) if (claimed === id) claims.delete(queue)
}

/** The job, if the token still holds it. A driver only says so when it is asked to extend the lock. */
const heldJob = Effect.fnUntraced(function* (store: Theirs.Service, jobId: JobId, options: ClaimOptions) {
  const locks = [{ id: jobId, token: options.token }]
  const { lost } = yield* run("claim", store.extendLocks(branded(locks), options.lockDurationMs))
  return lost.length > 0 ? Option.none() : yield* run("claim", store.getJob(branded(jobId)))
})

const optionalQueue = (queue: QueueName | undefined) =>
  queue === undefined ? undefined : branded<Theirs.QueueName>(queue)

const looking = (
  store: Theirs.Service,
  limits: Limits.Limits
): Methods<
  "getJob" | "getAttempts" | "list" | "counts" | "retry" | "promote" | "remove" | "pause" | "resume" | "pausedQueues"
> => ({
  getJob: (id) => Effect.map(run("getJob", store.getJob(branded(id))), Option.map(toJob)),
  getAttempts: (id) => run("getAttempts", store.getAttempts(branded(id))),
  list: (options) => listPage(store, limits, options),
  counts: (queue) => run("counts", store.counts(optionalQueue(queue))),
  retry: (id) => run("retry", store.retry(branded(id))),
  promote: (id) => run("promote", store.promote(branded(id))),
  remove: (id) => run("remove", store.remove(branded(id))),
  pause: (queue) => run("pause", store.pause(branded(queue))),
  resume: (queue) => run("resume", store.resume(branded(queue))),
  pausedQueues: () => run("pausedQueues", store.pausedQueues())
})

const listPage = Effect.fnUntraced(function* (store: Theirs.Service, limits: Limits.Limits, options: ListOptions) {
  const cursor = yield* Cursors.toTheirs(options)
  const page = yield* fitting(
    options.limit ?? 50,
    limits,
    (limit) => refuseUnsupportedOrder(run("list", store.list(branded({ ...options, cursor, limit })))),
    (page) => page.items.reduce((sum, job) => sum + jobBytes(job), 0)
  )
  return {
    items: page.items.map(toJob),
    cursor: page.cursor === undefined ? undefined : Cursors.toOurs(options, page.cursor)
  }
})

const scheduling = (
  store: Theirs.Service,
  runs: Runs
): Methods<
  "upsertSchedule" | "removeSchedule" | "listSchedules" | "dueSchedules" | "tickSchedule" | "advanceSchedule"
> => ({
  upsertSchedule: (schedule) => run("upsertSchedule", store.upsertSchedule(branded(schedule))),
  removeSchedule: (key) => run("removeSchedule", store.removeSchedule(branded(key))),
  listSchedules: (filter) =>
    Effect.map(
      run("listSchedules", store.listSchedules({ ...filter, queue: optionalQueue(filter?.queue) })),
      toSchedules
    ),
  dueSchedules: () => Effect.map(run("dueSchedules", store.dueSchedules()), toSchedules),
  tickSchedule: (key, expectedRunAt, nextRunAt, request) =>
    run("tickSchedule", store.tickSchedule(branded(key), expectedRunAt, nextRunAt, branded(toRequest(request)))).pipe(
      Effect.tap((inserted) =>
        Effect.sync(() => {
          if (inserted && request.id !== undefined) runs.forget(request.id)
        })
      )
    ),
  advanceSchedule: (key, expectedRunAt, nextRunAt) =>
    run("advanceSchedule", store.advanceSchedule(branded(key), expectedRunAt, nextRunAt))
})

const toSchedules = (schedules: ReadonlyArray<Theirs.ScheduleRecord>) =>
  schedules.map((schedule) => ScheduleRecord.make(schedule, unchecked))

const flowing = (
  store: Theirs.Service,
  limits: Limits.Limits
): Methods<
  "recordChildResults" | "listChildResults" | "flowSweepWork" | "markChildrenCascaded" | "peekOutbox" | "deleteOutbox"
> => ({
  recordChildResults: (reports) => run("recordChildResults", store.recordChildResults(branded(reports))),
  listChildResults: (flowId, options) =>
    fitting(
      options?.limit ?? 1000,
      limits,
      (limit) => run("listChildResults", store.listChildResults(branded(flowId), { cursor: options?.cursor, limit })),
      (page) => valueBytes(...page.items.map((child) => child.exit))
    ),
  flowSweepWork: (options) =>
    Effect.map(
      run(
        "flowSweepWork",
        store.flowSweepWork({ ...options, limit: Math.min(options.limit ?? 1000, limits.pageLength) })
      ),
      (work) => FlowSweepWork.make(work, unchecked)
    ),
  markChildrenCascaded: (flowId, childKeys) =>
    run("markChildrenCascaded", store.markChildrenCascaded(branded(flowId), childKeys)),
  peekOutbox: ({ after, limit }) =>
    fitting(
      limit,
      limits,
      (limit) => run("peekOutbox", store.peekOutbox({ after, limit })),
      (entries) => valueBytes(...entries.map((entry) => entry.report.exit))
    ),
  deleteOutbox: (ids) => run("deleteOutbox", store.deleteOutbox(ids))
})

/**
 * The effect-mq store as a Jobwire store that refuses what breaks the contract by `limits`. `origin` tells this instance's
 * wake tokens from those of all others, also of an earlier start.
 */
export const make = (store: Theirs.Service, limits: Limits.Limits, origin: string): Ours.Service => {
  const runs = makeRuns()
  return Validation.validated(
    {
      ...producing(store, runs),
      ...working(store, runs, limits, origin),
      ...looking(store, limits),
      ...scheduling(store, runs),
      ...flowing(store, limits)
    },
    limits
  )
}
