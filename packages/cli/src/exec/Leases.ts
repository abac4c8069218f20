/**
 * The jobs this worker holds, and the heartbeats that keep them: one call for all of them, at a third of the lease.
 *
 * How long a lease still lasts is measured from before the call that gave or extended it, on the monotonic clock of this
 * machine. So a worker that cannot reach the server stops its programs while nobody else can have their jobs yet.
 */
import { type JobRecord, type JobStore, JobStoreError, Limits } from "@jobwire/protocol"
import { Clock, Deferred, Effect, Option } from "effect"

/** Why a program must stop though it has not ended. */
export type Interruption = "cancelled" | "lost" | "unreachable"

/** A job this worker holds. */
export interface Lease {
  readonly job: JobRecord
  readonly token: string
  /** How long ago the claim was asked for. */
  readonly ageMs: Effect.Effect<number>
  /** Resolves when somebody wants the job cancelled, when it is no longer ours, or when the lease is about to end. */
  readonly interruption: Effect.Effect<Interruption>
  /** The interruption there is already, if any. */
  readonly interruptedBy: Effect.Effect<Option.Option<Interruption>>
}

interface Held {
  readonly job: JobRecord
  readonly token: string
  readonly answer: Deferred.Deferred<"cancelled" | "lost">
  /** On the monotonic clock, in milliseconds. */
  endsAt: number
}

/** Durations of a lease, in milliseconds. */
export interface LeaseTimes {
  readonly leaseMs: number
  /** How long before its end a lease counts as over: time to stop the program. */
  readonly marginMs: number
}

/** Milliseconds on a clock that is never set back. */
export const monotonicMs: Effect.Effect<number> = Effect.map(Clock.monotonicTimeNanos, (nanos) =>
  Number(nanos / 1_000_000n)
)

/** Told after every heartbeat: what went wrong, or `undefined`. */
export type HeartbeatReport = (problem: JobStoreError | undefined) => Effect.Effect<void>

/** The leases of one worker. */
export interface Leases {
  /** Holds a job whose claim was asked for at `claimedAt`, on the monotonic clock, until {@link Leases.drop}. */
  readonly hold: (job: JobRecord, token: string, claimedAt: number) => Lease
  readonly drop: (lease: Lease) => void
  /** Sends heartbeats, for ever. */
  readonly keep: Effect.Effect<never>
  /** One heartbeat for all jobs that are held. */
  readonly beat: Effect.Effect<void, JobStoreError>
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

/** Makes an empty set of leases. */
export const make = (store: JobStore.Service, times: LeaseTimes, report: HeartbeatReport): Leases => {
  const { leaseMs, marginMs } = times
  const all = new Map<string, Held>()

  const extend = Effect.fnUntraced(function* (some: ReadonlyArray<Held>) {
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

  const beat = Effect.suspend(() =>
    all.size === 0 ? Effect.void : extend([...all.values()].slice(0, Limits.defaults.batchLength))
  )

  // A heartbeat that hangs must not keep the next one from being sent.
  const inTime = Effect.timeoutOrElse(beat, {
    duration: leaseMs / 3,
    orElse: () => Effect.fail(noAnswer(leaseMs / 3))
  })

  const keep = Effect.gen(function* () {
    if (all.size === 0) return yield* Effect.sleep(leaseMs / 12)
    const problem = yield* Effect.match(inTime, { onFailure: (error) => error, onSuccess: () => undefined })
    yield* report(problem)
    yield* Effect.sleep(problem === undefined ? leaseMs / 3 : leaseMs / 12)
  })

  return {
    hold: (job, token, claimedAt) => {
      const held: Held = { job, token, answer: Deferred.makeUnsafe(), endsAt: claimedAt + leaseMs }
      all.set(token, held)
      return {
        job,
        token,
        ageMs: Effect.map(monotonicMs, (now) => now - claimedAt),
        interruption: Effect.raceFirst(Deferred.await(held.answer), awaitInterruption(held, marginMs)),
        interruptedBy: interruptedBy(held, marginMs)
      }
    },
    drop: ({ token }) => {
      all.delete(token)
    },
    keep: Effect.forever(keep),
    beat
  }
}
