/** A worker: claims jobs, runs a program for each, keeps their leases, and brings back jobs of workers that are gone. */
import { LeaseGuard } from "@jobwire/client"
import { type ClaimedJob, JobStore, type JobStoreError } from "@jobwire/protocol"
import { Deferred, Effect, FiberSet, Option, Queue, Semaphore } from "effect"
import { awaitWork, claim, mostAtOnce } from "./Claims.ts"
import { isEmpty } from "./Emptiness.ts"
import { recoverForever } from "./Recovery.ts"
import { runJob } from "./RunJob.ts"
import {
  noteCall,
  type RunCounts,
  type WorkerContext,
  type WorkerFailure,
  type WorkerOptions
} from "./WorkerContext.ts"

/** How the work of a worker ended. */
export interface WorkerResult {
  readonly counts: RunCounts
  /** Whether it ended because nothing was left, and not because it was stopped. */
  readonly isEmpty: boolean
}

const makeContext = Effect.fnUntraced(function* (given: WorkerOptions, stopping: Deferred.Deferred<void>) {
  const store = yield* JobStore.JobStore
  const { leaseMs } = given
  const options = { ...given, graceMs: Math.min(given.graceMs, leaseMs / 3) }
  // Between the moment a lease counts as over and its real end the program is stopped: its grace, and a little for the way.
  const marginMs = options.graceMs + Math.min(1000, leaseMs / 20)
  const context: WorkerContext = {
    options,
    store,
    leases: LeaseGuard.make(store, { leaseMs, marginMs, onHeartbeat: (problem) => noteCall(context, problem) }),
    counts: { completed: 0, retried: 0, failed: 0, cancelled: 0, released: 0, lost: 0 },
    stopping,
    failure: undefined,
    isReachable: true,
    wasReached: false,
    owed: 0,
    toldPaused: false
  }
  return context
})

interface Slots {
  readonly free: Semaphore.Semaphore
  readonly running: FiberSet.FiberSet<void>
  readonly ended: Queue.Queue<void>
}

const startJob = Effect.fnUntraced(function* (
  context: WorkerContext,
  slots: Slots,
  { job, token }: ClaimedJob,
  askedAt: number
) {
  const lease = context.leases.hold(job, token, askedAt)
  const done = Effect.andThen(slots.free.release(1), Queue.offer(slots.ended, undefined))
  const run = Effect.tapCause(runJob(context, lease), (cause) => Effect.logError("a run ended in a fault", cause))
  yield* FiberSet.run(slots.running, Effect.ensuring(run, done))
})

/** Waits until a program may start, and takes the slots that are free then. When the worker is stopping it does not wait. */
const takeSlots = Effect.fnUntraced(function* ({ stopping }: WorkerContext, { free }: Slots) {
  yield* Effect.raceFirst(free.take(1), Deferred.await(stopping))
  let taken = 1
  while (taken < mostAtOnce && (yield* free.takeIfAvailable(1))) taken++
  return taken
})

/** Takes jobs until the worker is stopping (false), or nothing is left and that was asked for (true). */
const takeJobs = Effect.fnUntraced(function* (
  context: WorkerContext,
  slots: Slots
): Effect.fn.Return<boolean, JobStoreError> {
  const { options } = context
  for (;;) {
    const taken = yield* takeSlots(context, slots)
    const claimed = yield* claim(context, taken)
    if (Option.isNone(claimed)) return false
    const { askedAt, empty, jobs } = claimed.value
    // Every slot that got no job is free again.
    yield* slots.free.release(taken - jobs.length)
    for (const job of jobs) yield* startJob(context, slots, job, askedAt)
    if (empty === undefined) continue
    if (options.untilEmpty && (yield* FiberSet.size(slots.running)) === 0 && (yield* isEmpty(context))) return true
    yield* awaitWork(context, empty, slots.ended)
  }
})

/**
 * Works until `stopping` is completed, nothing is left (if that was asked for), or it cannot go on. Running programs are
 * stopped and their jobs given back before it returns.
 */
export const work = Effect.fn("Worker.work")(function* (
  options: WorkerOptions,
  stopping: Deferred.Deferred<void>
): Effect.fn.Return<WorkerResult, WorkerFailure, JobStore.JobStore> {
  const context = yield* makeContext(options, stopping)
  const isDone = yield* Effect.scoped(
    Effect.gen(function* () {
      const running = yield* FiberSet.make<void>()
      const slots = { free: yield* Semaphore.make(options.concurrency), running, ended: yield* Queue.sliding<void>(1) }
      yield* Effect.forkScoped(context.leases.keep)
      yield* Effect.forkScoped(recoverForever(context))
      context.options.report({ _tag: "Ready", queue: options.queue, names: options.names })
      const stopAll = Effect.gen(function* () {
        yield* Deferred.succeed(stopping, undefined)
        const count = yield* FiberSet.size(running)
        if (count > 0) options.report({ _tag: "Draining", running: count })
        yield* FiberSet.awaitEmpty(running)
      })
      return yield* Effect.ensuring(takeJobs(context, slots), stopAll)
    })
  )
  if (context.failure !== undefined) return yield* context.failure
  return { counts: context.counts, isEmpty: isDone }
})
