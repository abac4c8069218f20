/** Taking jobs: one loop that claims as long as a program may start, and waits for a wake when there is nothing. */
import { type ClaimResult, type JobStoreError } from "@jobwire/protocol"
import { Clock, Deferred, Effect, Fiber, Option, Queue, Random, Result } from "effect"
import { randomUUID } from "node:crypto"
import { monotonicMs } from "./Leases.ts"
import { isStopping, noteCall, type WorkerContext } from "./WorkerContext.ts"

/** A claimed job: its token, and when it was asked for on the monotonic clock. */
export interface Claimed {
  readonly result: ClaimResult
  readonly token: string
  readonly askedAt: number
}

// How long a stopping worker waits for the answer to a claim that is under way, so as to give the job back.
const lastAnswerMs = 5000

/**
 * One claim. While the store cannot be reached the same token is sent again, so that a job whose answer was lost is found;
 * when a lease would have run out by now, a new one is drawn. None when the worker is stopping.
 */
export const claim = Effect.fnUntraced(function* (
  context: WorkerContext
): Effect.fn.Return<Option.Option<Claimed>, JobStoreError> {
  const { leaseMs, names, queue, untilEmpty } = context.options
  let token = randomUUID()
  let askedAt = yield* monotonicMs
  while (!isStopping(context)) {
    const call = context.store.claim({ queue, names, token, lockDurationMs: leaseMs })
    const answered = yield* answerBeforeStop(context, call)
    if (Option.isNone(answered)) return Option.none()
    if (Result.isSuccess(answered.value)) {
      yield* noteCall(context, undefined)
      return Option.some({ result: answered.value.success, token, askedAt })
    }
    const error = answered.value.failure
    if (!error.isRetryable || (untilEmpty && !context.wasReached)) return yield* error
    yield* noteCall(context, error)
    yield* Effect.raceFirst(Deferred.await(context.stopping), Effect.sleep(200 + 1800 * (yield* Random.next)))
    if ((yield* monotonicMs) - askedAt > leaseMs) {
      token = randomUUID()
      askedAt = yield* monotonicMs
    }
  }
  return Option.none()
})

// Interrupting a claim could leave a job behind that nobody runs.
const answerBeforeStop = Effect.fnUntraced(function* <A, E>(context: WorkerContext, call: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(Effect.result(call))
  const patience = Effect.andThen(Deferred.await(context.stopping), Effect.sleep(lastAnswerMs))
  const answered = yield* Effect.raceFirst(Effect.asSome(Fiber.join(fiber)), Effect.as(patience, Option.none()))
  if (Option.isNone(answered)) yield* Fiber.interrupt(fiber)
  return answered
})

// Work that no wake tells of (a lost connection, a clock that is set) is found by asking again.
const pollMs = 5000

// The store's clock may differ from ours: never ask in a tight loop for a job that it does not hold due yet.
const leastMs = 20

/** Waits until there may be work: a wake, a delayed job that is due, a run that ended, or some seconds. */
export const awaitWork = Effect.fnUntraced(function* (
  context: WorkerContext,
  empty: Extract<ClaimResult, { _tag: "Empty" }>,
  ended: Queue.Dequeue<void>
) {
  const { queue, untilEmpty } = context.options
  const now = yield* Clock.currentTimeMillis
  const dueMs = empty.nextRunAt === undefined ? pollMs : Math.min(Math.max(empty.nextRunAt - now, leastMs), pollMs)
  const wake = context.store
    .awaitWake([queue], empty.wakeToken)
    .pipe(Effect.catch((error) => Effect.andThen(noteCall(context, error), Effect.never)))
  const pause = Effect.sleep(untilEmpty ? Math.min(dueMs, 1000) : dueMs)
  const signals: Array<Effect.Effect<void>> = [wake, Deferred.await(context.stopping), pause]
  if (untilEmpty) signals.push(Queue.take(ended))
  yield* Effect.raceAllFirst(signals)
})
