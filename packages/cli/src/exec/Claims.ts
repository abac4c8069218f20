/** Taking jobs: one loop that claims as long as programs may start, and waits for a wake when there is nothing. */
import { LeaseGuard } from "@jobwire/client"
import type { ClaimManyResult, JobStoreError } from "@jobwire/protocol"
import { Clock, Deferred, Effect, Fiber, Option, Queue, Random, Result } from "effect"
import { randomUUID } from "node:crypto"
import { isStopping, noteCall, type WorkerContext } from "./WorkerContext.ts"

/** What a claim gave, and when it was asked for on the monotonic clock. */
export interface Claimed extends ClaimManyResult {
  readonly askedAt: number
}

/** For how many jobs one call asks at most: the first should not wait long for the last. */
export const mostAtOnce = 100

// How long a stopping worker waits for the answer to a claim that is under way, so as to give the job back.
const lastAnswerMs = 5000

const drawTokens = (count: number): ReadonlyArray<string> => Array.from({ length: count }, () => randomUUID())

const ask = (
  { options, store }: WorkerContext,
  tokens: ReadonlyArray<string>
): Effect.Effect<ClaimManyResult, JobStoreError> => {
  const { leaseMs: lockDurationMs, names, queue } = options
  const [token, another] = tokens
  if (token === undefined || another !== undefined) return store.claimMany({ queue, names, tokens, lockDurationMs })
  return Effect.map(store.claim({ queue, names, token, lockDurationMs }), (result) =>
    result._tag === "Claimed"
      ? { jobs: [{ token, job: result.job }], empty: undefined }
      : { jobs: [], empty: { nextRunAt: result.nextRunAt, wakeToken: result.wakeToken } }
  )
}

/**
 * Claims so many jobs, or as many as there are. While the store cannot be reached the same tokens are sent again, so that jobs
 * whose answer was lost are found; when a lease would have run out by now, new ones are drawn. None when the worker is stopping.
 */
export const claim = Effect.fnUntraced(function* (
  context: WorkerContext,
  count: number
): Effect.fn.Return<Option.Option<Claimed>, JobStoreError> {
  const { leaseMs, untilEmpty } = context.options
  let tokens = drawTokens(count)
  let askedAt = yield* LeaseGuard.monotonicMs
  while (!isStopping(context)) {
    const answered = yield* answerBeforeStop(context, ask(context, tokens))
    if (Option.isNone(answered)) return Option.none()
    if (Result.isSuccess(answered.value)) {
      yield* noteCall(context, undefined)
      return Option.some({ ...answered.value.success, askedAt })
    }
    const error = answered.value.failure
    if (!error.isRetryable || (untilEmpty && !context.wasReached)) return yield* error
    yield* noteCall(context, error)
    yield* Effect.raceFirst(Deferred.await(context.stopping), Effect.sleep(200 + 1800 * (yield* Random.next)))
    if ((yield* LeaseGuard.monotonicMs) - askedAt > leaseMs) {
      tokens = drawTokens(count)
      askedAt = yield* LeaseGuard.monotonicMs
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
  empty: NonNullable<ClaimManyResult["empty"]>,
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
