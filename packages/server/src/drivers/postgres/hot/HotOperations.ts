/**
 * The operations of workers and producers by statements that all callers and stores of a server share. What a statement does not decide
 * goes to the same operation in units of work.
 */
import {
  type Ack,
  acked,
  type AckResult,
  Call,
  type ClaimManyOptions,
  type EnqueueRequest,
  type EnqueueResult,
  type JobStore,
  type JobStoreError,
  type Lock
} from "@jobwire/protocol"
import { Clock, Effect, type Scope } from "effect"
import { newJob } from "../../../core/Enqueue.ts"
import type { JobRow } from "../../../core/JobRow.ts"
import { idOf, itemOf, memoOf } from "../../embedded/CallIds.ts"
import { oneOf } from "../../embedded/ClaimOperations.ts"
import { drawId } from "../../embedded/JobIds.ts"
import { inTurns } from "../../embedded/Turns.ts"
import type { Sessions } from "../Connections.ts"
import * as AckStatement from "./AckStatement.ts"
import { endingOf, extendedUntil } from "./AnyJob.ts"
import * as Claims from "./Claims.ts"
import * as Enqueues from "./Enqueues.ts"
import * as ExtendStatement from "./ExtendStatement.ts"
import * as HeldJobs from "./HeldJobs.ts"
import { CurrentHotSettings } from "./HotSettings.ts"
import type { HotStore } from "./HotStore.ts"
import { KnownNumbers } from "./KnownNumbers.ts"

/** The operations that statements carry out. */
export type HotOperations = Pick<
  JobStore.Service,
  "enqueue" | "enqueueMany" | "claim" | "claimMany" | "ack" | "ackMany" | "extendLocks"
>

/** The statements of a server. */
export interface HotStatements {
  /** Whether operations use them. */
  readonly isOn: boolean
  readonly enqueue: Enqueues.Enqueue
  readonly claimMany: Claims.ClaimMany
  readonly ack: HeldJobs.EachHeld<AckStatement.EndingAck>
  readonly extend: HeldJobs.EachHeld<ExtendStatement.Extension>
  readonly numbers: KnownNumbers
}

/** The statements over these sessions, for as long as the scope lives. */
export const make = Effect.fnUntraced(function* (
  sessions: Sessions
): Effect.fn.Return<HotStatements, never, Scope.Scope> {
  const settings = yield* CurrentHotSettings
  const { acksAtOnce, isOn, most } = settings
  const numbers = new KnownNumbers()
  return {
    isOn,
    enqueue: yield* Enqueues.make(sessions, settings),
    claimMany: yield* Claims.make(sessions, settings, numbers),
    ack: yield* HeldJobs.make(sessions, { ...AckStatement, atOnce: acksAtOnce, most }),
    extend: yield* HeldJobs.make(sessions, { ...ExtendStatement, atOnce: 1, most }),
    numbers
  }
})

/** The operations of one store, without validation. */
export const operations = (hot: HotStatements, store: HotStore): HotOperations => {
  if (!hot.isOn) return store.units
  const claimMany = (options: ClaimManyOptions) => hot.claimMany(store, options)
  return {
    enqueue: (request) =>
      isHot(store, request)
        ? // One request gives one result.
          Effect.map(enqueueSome(hot, store, [request], 0), (results) => results[0] as EnqueueResult)
        : store.units.enqueue(request),
    enqueueMany: (requests) => inTurns(requests, (some, first) => enqueueMany(hot, store, some, first)),
    claim: oneOf(claimMany),
    claimMany,
    ack: (id, token, outcome) =>
      Effect.flatMap(ackSome(hot, store, [{ id, token, outcome }]), ([isDone]) =>
        isDone === true ? Effect.void : store.units.ack(id, token, outcome)
      ),
    ackMany: (acks) => inTurns(acks, (some) => ackMany(hot, store, some)),
    extendLocks: (locks, durationMs) =>
      Effect.flatMap(
        inTurns(locks, (some) => extendSome(hot, store, some, durationMs)),
        (isDone) => {
          const left = locks.filter((_, index) => isDone[index] !== true)
          return left.length === 0
            ? Effect.succeed({ lost: [], cancelRequested: [] })
            : store.units.extendLocks(left, durationMs)
        }
      )
  }
}

/** Whether an enqueue decides about nothing but its own id. */
const isHot = (store: HotStore, { dedupe, id }: EnqueueRequest): boolean =>
  dedupe === undefined && (id !== undefined || store.drawsIds)

const enqueueSome = (
  hot: HotStatements,
  store: HotStore,
  requests: ReadonlyArray<EnqueueRequest>,
  first: number
): Effect.Effect<ReadonlyArray<EnqueueResult>, JobStoreError> =>
  Effect.withFiber((fiber) => {
    const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    const call = fiber.getRef(Call.CurrentCall)
    const jobs = requests.map((request, index) => newHotJob(request, now, call, first + index))
    const isOwn = requests.map(({ id }) => id === undefined && call === undefined)
    const result = ({ id }: JobRow, index: number, isNew: boolean | undefined) =>
      isNew === true || (isNew === false && call === undefined)
        ? Effect.succeed<EnqueueResult>({ id, duplicate: !isNew })
        : // Whether the job that is or was there is this call's own, a unit finds out. One request gives one result.
          Effect.map(
            store.units.enqueueFrom([requests[index] as EnqueueRequest], first + index),
            (results) => results[0] as EnqueueResult
          )
    return Effect.flatMap(hot.enqueue({ store, jobs, isOwn }), (went) =>
      Effect.forEach(jobs, (job, index) => result(job, index, went[index]))
    )
  })

// The statement draws the number.
const newHotJob = (request: EnqueueRequest, now: number, call: string | undefined, position: number): JobRow =>
  call === undefined
    ? newJob(request.id ?? drawId(now), 0, request, now)
    : newJob(request.id ?? idOf(call, position), 0, request, now, memoOf(itemOf(call, position), request))

/** Each as if it came alone, in order: those that decide about nothing but their ids together, the others as units. */
const enqueueMany = (
  hot: HotStatements,
  store: HotStore,
  requests: ReadonlyArray<EnqueueRequest>,
  first: number
): Effect.Effect<ReadonlyArray<EnqueueResult>, JobStoreError> => {
  const stretches: Array<{
    readonly isHot: boolean
    readonly first: number
    readonly requests: Array<EnqueueRequest>
  }> = []
  for (const [index, request] of requests.entries()) {
    const kind = isHot(store, request)
    const last = stretches.at(-1)
    if (last?.isHot === kind) last.requests.push(request)
    else stretches.push({ isHot: kind, first: first + index, requests: [request] })
  }
  return Effect.map(
    Effect.forEach(stretches, (stretch) =>
      stretch.isHot
        ? enqueueSome(hot, store, stretch.requests, stretch.first)
        : store.units.enqueueFrom(stretch.requests, stretch.first)
    ),
    (results) => results.flat()
  )
}

/** Whether each ack was carried out; one that was not has changed nothing. */
const ackSome = (
  hot: HotStatements,
  store: HotStore,
  acks: ReadonlyArray<Ack>
): Effect.Effect<ReadonlyArray<boolean>, JobStoreError> =>
  Effect.clockWith((clock) => {
    const now = clock.currentTimeMillisUnsafe()
    const isDone = acks.map(() => false)
    const positions: Array<number> = []
    const endings: Array<AckStatement.EndingAck> = []
    const seen = new Set<string>()
    for (const [position, { id, outcome, token }] of acks.entries()) {
      const ending = endingOf(token, outcome, now)
      // An ack of a job that has another before it in the list comes after it.
      if (ending !== undefined && !seen.has(id)) {
        positions.push(position)
        endings.push({ store: store.number, id, seq: hot.numbers.find(store.number, token, id), token, ending })
      }
      seen.add(id)
    }
    if (endings.length === 0) return Effect.succeed(isDone)
    return Effect.map(hot.ack(endings), (went) => {
      for (const [index, position] of positions.entries()) {
        isDone[position] = went[index] === true
        hot.numbers.forget(store.number, endings[index]?.token ?? "")
      }
      return isDone
    })
  })

const ackMany = (
  hot: HotStatements,
  store: HotStore,
  acks: ReadonlyArray<Ack>
): Effect.Effect<ReadonlyArray<AckResult>, JobStoreError> =>
  Effect.flatMap(ackSome(hot, store, acks), (isDone) => {
    const left = acks.filter((_, index) => isDone[index] !== true)
    const rest = left.length === 0 ? Effect.succeed([]) : store.units.ackMany(left)
    return Effect.map(rest, (results: ReadonlyArray<AckResult>) => {
      const others = results.values()
      // Each that is left has its result.
      return isDone.map((isDone) => (isDone ? acked : (others.next().value as AckResult)))
    })
  })

const extendSome = (
  hot: HotStatements,
  store: HotStore,
  locks: ReadonlyArray<Lock>,
  durationMs: number
): Effect.Effect<ReadonlyArray<boolean>, JobStoreError> => {
  if (locks.length === 0) return Effect.succeed([])
  return Effect.clockWith((clock) => {
    const until = extendedUntil(durationMs, clock.currentTimeMillisUnsafe())
    const seqOf = ({ id, token }: Lock) => hot.numbers.find(store.number, token, id)
    return hot.extend(
      locks.map((lock) => ({ store: store.number, id: lock.id, seq: seqOf(lock), token: lock.token, until }))
    )
  })
}
