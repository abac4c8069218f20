/** One run: from a held lease to the word about it to the store. */
import { LeaseGuard } from "@jobwire/client"
import type { JobNotFoundError, JobRecord, JobStoreError, LockLostError } from "@jobwire/protocol"
import { Deferred, Effect, Option, Random, Result } from "effect"
import { formatDuration } from "../flags/Duration.ts"
import { successExit } from "./ExitValue.ts"
import { jobEnvironment, jobInput } from "./JobEnvironment.ts"
import * as Program from "./Program.ts"
import { type ProgramOutcome, resultLimit, settle, settleTimeout, stderrLimit } from "./Settlement.ts"
import { giveUp, isStopping, noteCall, type WorkerContext } from "./WorkerContext.ts"
import type { RunOutcome } from "./WorkerEvents.ts"

type Stop = LeaseGuard.Interruption | "timeout" | "stopping"

/** How the run of a program came to its end. */
type Ending =
  | { readonly _tag: "Exited"; readonly end: Program.ProgramEnd }
  | { readonly _tag: "TimedOut"; readonly end: Program.ProgramEnd }
  | { readonly _tag: "Stopped"; readonly why: LeaseGuard.Interruption | "stopping" }

const startProgram = ({ options }: WorkerContext, job: JobRecord) =>
  Program.start(options.command, {
    env: { ...process.env, ...options.env, ...jobEnvironment(job, options.leaseMs) },
    input: jobInput(job),
    stdoutLimit: resultLimit,
    stderrLimit,
    onStderr: (chunk) => {
      if (options.forwardStderr) process.stderr.write(chunk)
    }
  })

const timeout = ({ timeoutMs }: JobRecord): Effect.Effect<Stop> =>
  timeoutMs === undefined ? Effect.never : Effect.as(Effect.sleep(timeoutMs), "timeout")

/** Waits for the program or for a reason to stop it, and stops it then. */
const watch = Effect.fnUntraced(function* (
  context: WorkerContext,
  lease: LeaseGuard.Lease,
  program: Program.Program
): Effect.fn.Return<Ending> {
  const stop = yield* Effect.raceAllFirst<Effect.Effect<Stop | undefined>>([
    Effect.as(program.exited, undefined),
    lease.interruption,
    timeout(lease.job),
    Effect.as(Deferred.await(context.stopping), "stopping" as const)
  ])
  if (stop !== undefined) yield* program.stop(context.options.graceMs)
  const end = yield* program.ended
  if (stop === undefined) return { _tag: "Exited", end }
  return stop === "timeout" ? { _tag: "TimedOut", end } : { _tag: "Stopped", why: stop }
})

type SettleError = JobStoreError | JobNotFoundError | LockLostError

// How long a stopping worker tries to tell the store about a run.
const lastWordMs = 10_000

const isWorthAgain = (error: SettleError): error is JobStoreError => error._tag === "JobStoreError" && error.isRetryable

const tellAgain = Effect.fnUntraced(function* (
  context: WorkerContext,
  call: Effect.Effect<void, SettleError>,
  first: JobStoreError,
  forMs: number
) {
  const began = yield* LeaseGuard.monotonicMs
  let error: SettleError = first
  while (isWorthAgain(error)) {
    yield* noteCall(context, error)
    if ((yield* LeaseGuard.monotonicMs) - began > (isStopping(context) ? lastWordMs : forMs)) return error
    yield* Effect.sleep(200 + 800 * (yield* Random.next))
    const told = yield* Effect.result(call)
    if (Result.isSuccess(told)) return undefined
    error = told.failure
  }
  return error
})

/**
 * Tells the store about a run, again and again while it cannot be reached: the work is done, and as long as nobody else has
 * the job, a late word saves a second run. Gives up when the job is somebody else's, and soon when the worker is stopping.
 * Answers with the error it gave up for.
 */
const tell = Effect.fnUntraced(function* (
  context: WorkerContext,
  call: Effect.Effect<void, SettleError>,
  forMs = Number.POSITIVE_INFINITY
) {
  const told = yield* Effect.result(call)
  if (Result.isSuccess(told)) return undefined
  const error = told.failure
  if (!isWorthAgain(error)) return error
  const owe = (change: number) => Effect.sync(() => (context.owed += change))
  return yield* Effect.ensuring(Effect.andThen(owe(1), tellAgain(context, call, error, forMs)), owe(-1))
})

interface Told {
  readonly outcome: RunOutcome
  readonly reason?: string | undefined
  readonly retryInMs?: number | undefined
}

const outcomes = { Complete: "completed", Fail: "failed", Retry: "retried", Cancelled: "cancelled" } as const

const isTooBig = (error: SettleError): boolean =>
  error._tag === "JobStoreError" && (error.reason._tag === "LimitExceeded" || error.reason._tag === "InvalidArgument")

// A store with narrower limits than the contract's may refuse a result. The work was done, so the job must not run again.
const withoutResult = (outcome: ProgramOutcome, error: SettleError): ProgramOutcome | undefined =>
  outcome._tag === "Complete" && isTooBig(error)
    ? { _tag: "Complete", exit: successExit({ refused: error.message }) }
    : undefined

const acknowledge = Effect.fnUntraced(function* (
  context: WorkerContext,
  lease: LeaseGuard.Lease,
  outcome: ProgramOutcome,
  reason?: string
): Effect.fn.Return<Told> {
  const ack = (each: ProgramOutcome) => tell(context, context.store.ack(lease.job.id, lease.token, each))
  let error = yield* ack(outcome)
  const smaller = error === undefined ? undefined : withoutResult(outcome, error)
  if (smaller !== undefined) error = yield* ack(smaller)
  if (error !== undefined) return { outcome: "lost", reason: error.message }
  return {
    outcome: outcomes[outcome._tag],
    reason,
    retryInMs: outcome._tag === "Retry" ? outcome.delayMs : undefined
  }
})

const giveBack = Effect.fnUntraced(function* (
  context: WorkerContext,
  lease: LeaseGuard.Lease,
  reason: string
): Effect.fn.Return<Told> {
  const call = context.store.release(lease.job.id, lease.token)
  const error = yield* tell(context, call, context.options.leaseMs)
  return error === undefined ? { outcome: "released", reason } : { outcome: "lost", reason: error.message }
})

const reasonOf = (end: Program.ProgramEnd): string | undefined => {
  if (end.code === 0) return undefined
  return end.code === undefined ? `ended by ${end.signal ?? "a signal"}` : `exit code ${end.code}`
}

const stopReasons = {
  cancelled: "somebody asked to cancel it",
  stopping: "the worker stops",
  unreachable: "the server was out of reach for the length of the lease",
  lost: "the lease ran out and was taken back"
} as const

const conclude = Effect.fnUntraced(function* (
  context: WorkerContext,
  lease: LeaseGuard.Lease,
  ending: Ending
): Effect.fn.Return<Told> {
  const { job } = lease
  if (ending._tag === "Exited") {
    return yield* acknowledge(context, lease, settle(job, ending.end), reasonOf(ending.end))
  }
  if (ending._tag === "TimedOut") {
    const limit = job.timeoutMs ?? 0
    return yield* acknowledge(context, lease, settleTimeout(job, limit, ending.end), `over ${formatDuration(limit)}`)
  }
  const reason = stopReasons[ending.why]
  if (ending.why === "lost") return { outcome: "lost", reason }
  if (ending.why === "cancelled") return yield* acknowledge(context, lease, { _tag: "Cancelled" }, reason)
  return yield* giveBack(context, lease, reason)
})

const runProgram = (
  context: WorkerContext,
  lease: LeaseGuard.Lease
): Effect.Effect<Ending, Program.ProgramStartError> =>
  Effect.scoped(Effect.flatMap(startProgram(context, lease.job), (program) => watch(context, lease, program)))

// The answer to a claim may have been long under way: then the job is ours only if the store still says so.
const stopBefore = Effect.fnUntraced(function* (
  context: WorkerContext,
  lease: LeaseGuard.Lease
): Effect.fn.Return<Option.Option<LeaseGuard.Interruption | "stopping">> {
  if (isStopping(context)) return Option.some("stopping")
  if ((yield* lease.ageMs) > context.options.leaseMs / 3) yield* Effect.ignore(context.leases.beat)
  return yield* lease.interruptedBy
})

/** Runs the program for a job and tells the store how it went. */
export const runJob = Effect.fnUntraced(function* (context: WorkerContext, lease: LeaseGuard.Lease) {
  const { counts, leases, options } = context
  const { job } = lease
  const began = yield* LeaseGuard.monotonicMs
  options.report({ _tag: "Started", job })
  const before = yield* stopBefore(context, lease)
  const ending: Effect.Effect<Ending, Program.ProgramStartError> = Option.match(before, {
    onNone: () => runProgram(context, lease),
    onSome: (why) => Effect.succeed({ _tag: "Stopped", why })
  })
  const told = yield* ending.pipe(
    Effect.flatMap((each) => conclude(context, lease, each)),
    // No program, no attempt: another worker may have it.
    Effect.catchTag("ProgramStartError", (error) =>
      Effect.andThen(giveUp(context, error), giveBack(context, lease, error.message))
    ),
    Effect.ensuring(Effect.sync(() => leases.drop(lease)))
  )
  counts[told.outcome]++
  options.report({ _tag: "Ended", job, tookMs: (yield* LeaseGuard.monotonicMs) - began, ...told })
})
