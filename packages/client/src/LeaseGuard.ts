/**
 * The leases of one worker: heartbeats that keep its jobs, and the word to stop a handler in time when they do not get through.
 *
 * How long a lease still lasts is measured from before the call that gave or extended it, on the monotonic clock of this machine, which
 * nobody sets. So a worker that cannot reach the server stops its handlers while nobody else can have their jobs yet. Heartbeats are
 * calls like any other, and may go by another connection than the claim.
 *
 * ```ts
 * const guard = LeaseGuard.make(store, { leaseMs: 30_000, marginMs: 2_000 })
 * yield* Effect.forkScoped(guard.keep)
 * const askedAt = yield* LeaseGuard.monotonicMs
 * const claim = yield* store.claim({ queue, names, token, lockDurationMs: 30_000 })
 * if (claim._tag === "Claimed") yield* guard.run(guard.hold(claim.job, token, askedAt), handle(claim.job))
 * ```
 */
import { type JobRecord, type JobStore, JobStoreError, Limits } from "@jobwire/protocol"
import { Array as Arr, Clock, Deferred, Effect, Option, Schema } from "effect"

/**
 * Why a handler must stop though it has not ended: somebody wants the job cancelled; the lease was taken back; or the server was out of
 * reach for so long that the lease is about to end.
 */
export type Interruption = "cancelled" | "lost" | "unreachable"

/** A handler was stopped, because its lease came to its end. */
export class LeaseEnded extends Schema.TaggedError<LeaseEnded>()("LeaseEnded", {
  jobId: Schema.String,
  why: Schema.Literals(["cancelled", "lost", "unreachable"])
}) {
  override get message(): string {
    return `the handler of job ${this.jobId} was stopped: ${reasons[this.why]}`
  }
}

const reasons: Readonly<Record<Interruption, string>> = {
  cancelled: "somebody asked to cancel the job",
  lost: "its lease was taken back",
  unreachable: "the server was out of reach until the lease was about to end"
}

/** A job that the worker holds. */
export interface Lease {
  readonly job: JobRecord
  readonly token: string
  /** How long ago the claim was asked for, in milliseconds. */
  readonly ageMs: Effect.Effect<number>
  /** Resolves when the handler must stop. */
  readonly interruption: Effect.Effect<Interruption>
  /** The interruption there is already, if any. */
  readonly interruptedBy: Effect.Effect<Option.Option<Interruption>>
}

/** How leases are kept. */
export interface Options {
  /** For how long jobs are claimed and extended, in milliseconds. */
  readonly leaseMs: number
  /** How long before its end a lease counts as over, in milliseconds: time to stop the handler. */
  readonly marginMs: number
  /** Told after every heartbeat: what went wrong, or `undefined`. */
  readonly onHeartbeat?: ((problem: JobStoreError | undefined) => Effect.Effect<void>) | undefined
}

/** See the file. */
export interface LeaseGuard {
  /** Holds a job until {@link LeaseGuard.drop}. `askedAt` is {@link monotonicMs} from before the claim was sent. */
  readonly hold: (job: JobRecord, token: string, askedAt: number) => Lease
  /** Sends no more heartbeats for a job. */
  readonly drop: (lease: Lease) => void
  /** Sends heartbeats, for ever: one call for all jobs, at a third of the lease, sooner after one that failed. */
  readonly keep: Effect.Effect<never>
  /** One heartbeat for all jobs that are held. */
  readonly beat: Effect.Effect<void, JobStoreError>
  /** Runs a handler and drops its lease. When it must stop it is interrupted, and this fails when its finalizers are done. */
  readonly run: <A, E, R>(lease: Lease, handler: Effect.Effect<A, E, R>) => Effect.Effect<A, E | LeaseEnded, R>
}

/** Milliseconds on a clock that is never set back, from an origin of no meaning. */
export const monotonicMs: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) =>
  Number(nanos / 1_000_000n)
)

interface Held {
  readonly job: JobRecord
  readonly token: string
  readonly answer: Deferred.Deferred<"cancelled" | "lost">
  /** On the monotonic clock, in milliseconds. */
  endsAt: number
}

const leftMs = (held: Held, marginMs: number): Effect.Effect<number> =>
  Effect.map(monotonicMs, (now) => held.endsAt - marginMs - now)

const awaitInterruption = Effect.fnUntraced(function* (held: Held, marginMs: number) {
  for (;;) {
    const left = yield* leftMs(held, marginMs)
    if (left <= 0) return "unreachable" as const
    yield* Effect.sleep(left)
  }
})

const interruptedBy = Effect.fnUntraced(function* (
  held: Held,
  marginMs: number
): Effect.fn.Return<Option.Option<Interruption>> {
  if (Deferred.isDoneUnsafe(held.answer)) return Option.some(yield* Deferred.await(held.answer))
  return (yield* leftMs(held, marginMs)) > 0 ? Option.none() : Option.some("unreachable")
})

const noAnswer = (afterMs: number): JobStoreError =>
  new JobStoreError({
    message: `no answer to a heartbeat within ${Math.round(afterMs)} ms`,
    reason: { _tag: "DeadlineExceeded", url: undefined, afterMs }
  })

const extend = Effect.fnUntraced(function* (store: JobStore.Service, some: ReadonlyArray<Held>, leaseMs: number) {
  const askedAt = yield* monotonicMs
  const locks = some.map(({ job, token }) => ({ id: job.id, token }))
  const { cancelRequested, lost } = yield* store.extendLocks(locks, leaseMs)
  const cancelled = new Set(cancelRequested)
  const gone = new Set(lost)
  for (const held of some) {
    if (gone.has(held.job.id)) Deferred.doneUnsafe(held.answer, Effect.succeed("lost"))
    else if (cancelled.has(held.job.id)) Deferred.doneUnsafe(held.answer, Effect.succeed("cancelled"))
    else held.endsAt = askedAt + leaseMs
  }
})

/** The leases of one worker on a store; none at first. */
export const make = (store: JobStore.Service, { leaseMs, marginMs, onHeartbeat }: Options): LeaseGuard => {
  const all = new Map<string, Held>()

  const beat = Effect.suspend(() =>
    Effect.forEach(Arr.chunksOf(all.values(), Limits.defaults.batchLength), (some) => extend(store, some, leaseMs), {
      discard: true,
      concurrency: "unbounded"
    })
  )

  // A heartbeat that hangs must not keep the next one from being sent.
  const inTime = Effect.timeoutOrElse(beat, {
    duration: leaseMs / 3,
    orElse: () => Effect.fail(noAnswer(leaseMs / 3))
  })

  const keep = Effect.gen(function* () {
    if (all.size === 0) return yield* Effect.sleep(leaseMs / 12)
    const problem = yield* Effect.match(inTime, { onFailure: (error) => error, onSuccess: () => undefined })
    if (onHeartbeat !== undefined) yield* onHeartbeat(problem)
    yield* Effect.sleep(problem === undefined ? leaseMs / 3 : leaseMs / 12)
  })

  const drop: LeaseGuard["drop"] = ({ token }) => void all.delete(token)

  return {
    hold: (job, token, askedAt) => {
      const held: Held = { job, token, answer: Deferred.makeUnsafe(), endsAt: askedAt + leaseMs }
      all.set(token, held)
      return {
        job,
        token,
        ageMs: Effect.map(monotonicMs, (now) => now - askedAt),
        interruption: Effect.raceFirst(Deferred.await(held.answer), awaitInterruption(held, marginMs)),
        interruptedBy: interruptedBy(held, marginMs)
      }
    },
    drop,
    keep: Effect.forever(keep),
    beat,
    run: (lease, handler) => {
      const ended = Effect.flatMap(lease.interruption, (why) =>
        Effect.fail(new LeaseEnded({ jobId: lease.job.id, why }))
      )
      return Effect.ensuring(
        Effect.raceFirst(handler, ended),
        Effect.sync(() => drop(lease))
      )
    }
  }
}
