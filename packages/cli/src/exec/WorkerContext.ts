/** What the parts of one worker share. */
import type { LeaseGuard } from "@jobwire/client"
import type { JobStore, JobStoreError } from "@jobwire/protocol"
import { Deferred, Effect } from "effect"
import type { ProgramCommand, ProgramStartError } from "./Program.ts"
import type { ReportEvent, RunOutcome } from "./WorkerEvents.ts"

/** How a worker works. Durations are milliseconds. */
export interface WorkerOptions {
  readonly queue: string
  readonly names: ReadonlyArray<string>
  readonly command: ProgramCommand
  /** How many programs may run at once. */
  readonly concurrency: number
  readonly leaseMs: number
  /** How long a program may go on after TERM. */
  readonly graceMs: number
  /** A job whose lease ran out more often than this fails. */
  readonly maxStalled: number
  /** End when nothing is waiting, delayed or active any more. */
  readonly untilEmpty: boolean
  /** Variables of every program, beside those of the worker itself and those of the job. */
  readonly env: Readonly<Record<string, string>>
  /** Pass on what programs write to stderr. */
  readonly forwardStderr: boolean
  readonly report: ReportEvent
}

/** Why a worker cannot go on. */
export type WorkerFailure = JobStoreError | ProgramStartError

/** How many runs ended in which way. */
export type RunCounts = Record<RunOutcome, number>

/** What the parts of one worker share. */
export interface WorkerContext {
  readonly options: WorkerOptions
  readonly store: JobStore.Service
  readonly leases: LeaseGuard.LeaseGuard
  readonly counts: RunCounts
  /** Resolves when no new job is to be taken and running programs are to be stopped. */
  readonly stopping: Deferred.Deferred<void>
  /** Set when the worker stops because it cannot go on. */
  failure: WorkerFailure | undefined
  /** Whether the last call reached the store. */
  isReachable: boolean
  /** Whether any call did. */
  wasReached: boolean
  /** How many runs have ended that the store could not be told of yet. */
  owed: number
  /** Whether it was told that the queue is paused. */
  toldPaused: boolean
}

/** Whether the worker is stopping. */
export const isStopping = (context: WorkerContext): boolean => Deferred.isDoneUnsafe(context.stopping)

/** Stops the worker because of a failure that no later call will not meet. */
export const giveUp = (context: WorkerContext, failure: WorkerFailure): Effect.Effect<void> =>
  Effect.suspend(() => {
    context.failure ??= failure
    return Deferred.succeed(context.stopping, undefined)
  })

/** Takes notice of how a call went: tells once when the store is out of reach and once when it is back. */
export const noteCall = (context: WorkerContext, problem: JobStoreError | undefined): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { report } = context.options
    if (problem === undefined || problem.isRetryable) {
      const isReachable = problem === undefined
      if (isReachable) context.wasReached = true
      if (isReachable === context.isReachable) return Effect.void
      context.isReachable = isReachable
      report(problem === undefined ? { _tag: "Reachable" } : { _tag: "Unreachable", message: problem.message })
      return Effect.void
    }
    return giveUp(context, problem)
  })
