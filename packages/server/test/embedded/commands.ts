/** Random calls on a store, in a world small enough that they meet each other again and again. */
import { type AckOutcome, EnqueueRequest, type JobStore } from "@jobwire/protocol"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"

/** One call, or time that passes. What the store refuses is part of the history. */
export interface Command {
  readonly name: string
  readonly run: (store: JobStore.Service) => Effect.Effect<unknown, unknown>
  readonly toString: () => string
}

// What a world is made of.
export const id = fc.constantFrom("a", "b", "c", "d", "e", "f")
export const queue = fc.constantFrom("q1", "q2")
export const name = fc.constantFrom("n1", "n2")
export const token = fc.constantFrom("t1", "t2", "t3", "t4")
export const ms = fc.constantFrom(0, 1, 5, 20)

// Most commands are about a job that is there: the so-many-th of the list.
const position = fc.nat({ max: 11 })

const onJob = (
  store: JobStore.Service,
  position: number,
  run: (id: string) => Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> =>
  Effect.flatMap(store.list({ limit: 12 }), ({ items }) =>
    run(items[position % Math.max(1, items.length)]?.id ?? "none")
  )

const maybe = <A>(value: fc.Arbitrary<A>) => fc.option(value, { nil: undefined })

const rule = fc.record({ count: maybe(fc.constantFrom(0, 1, 2)), ageMs: maybe(ms) })

export const request: fc.Arbitrary<EnqueueRequest> = fc
  .record({
    id: maybe(id),
    name,
    queue,
    priority: fc.constantFrom(0, 0, 1, -1),
    delayMs: ms,
    keep: maybe(fc.record({ completed: maybe(rule), failed: maybe(rule), cancelled: maybe(rule) })),
    dedupe: maybe(
      fc.record({ key: fc.constantFrom("k1", "k2"), ttlMs: maybe(ms), extend: fc.boolean(), replace: fc.boolean() })
    ),
    parent: maybe(
      fc.record({
        flowName: fc.constant("flow"),
        flowId: id,
        childKey: fc.constantFrom("x", "y"),
        parentStoreKey: fc.constant("store"),
        depth: fc.constant(1)
      })
    )
  })
  .map((fields) => EnqueueRequest.make({ ...fields, payload: null }))

const child = (key: string) => ({
  childKey: key,
  storeKey: "store",
  request: EnqueueRequest.make({ id: `child-${key}`, name: "n1", queue: "q1", payload: { key } })
})

const exit = fc.constantFrom(undefined, null, 1)

export const outcome: fc.Arbitrary<AckOutcome> = fc.oneof(
  exit.map((exit) => ({ _tag: "Complete" as const, exit })),
  exit.map((exit) => ({ _tag: "Fail" as const, exit })),
  ms.map((delayMs) => ({ _tag: "Retry" as const, delayMs, exit: undefined })),
  fc.constant({ _tag: "Cancelled" as const }),
  fc.record({
    _tag: fc.constant("FanOut" as const),
    failFast: fc.boolean(),
    children: fc.constantFrom([], [child("x")], [child("x"), child("y")])
  })
)

export const report = fc.record({
  childKey: fc.constantFrom("x", "y", "unknown"),
  outcome: fc.constantFrom("completed" as const, "failed" as const, "cancelled" as const),
  exit,
  failedReason: fc.constant(undefined)
})

/** A command from an input. */
export const command = <A>(
  name: string,
  input: fc.Arbitrary<A>,
  run: (store: JobStore.Service, input: A) => Effect.Effect<unknown, unknown>
): fc.Arbitrary<Command> =>
  input.map((value) => ({
    name,
    run: (store) => run(store, value),
    toString: () => `${name} ${JSON.stringify(value)}`
  }))

const claim = command("claim", fc.record({ queue, names: fc.subarray(["n1", "n2"]), token }), (store, options) =>
  store.claim({ ...options, lockDurationMs: 10 })
)

// Most acks come from whoever holds something, so that histories get on.
const claimAndAck = command("claim and ack", fc.record({ queue, token, outcome }), (store, { outcome, queue, token }) =>
  Effect.flatMap(store.claim({ queue, names: ["n1", "n2"], token, lockDurationMs: 10 }), (claimed) =>
    claimed._tag === "Claimed" ? store.ack(claimed.job.id, token, outcome) : Effect.void
  )
)

const tokens = fc.uniqueArray(token, { minLength: 1 })

// Wake tokens name the store that gave them, so they are left out.
const takeMany = (store: JobStore.Service, options: { queue: string; names: Array<string>; tokens: Array<string> }) =>
  Effect.map(store.claimMany({ ...options, lockDurationMs: 10 }), ({ empty, jobs }) => ({
    jobs,
    isEmpty: empty !== undefined,
    nextRunAt: empty?.nextRunAt
  }))

// There may be more outcomes than jobs: then some are acked twice.
const claimAndAckMany = command(
  "claim and ack many",
  fc.record({ queue, tokens, outcomes: fc.array(outcome, { minLength: 1, maxLength: 5 }) }),
  (store, { outcomes, queue, tokens }) =>
    Effect.flatMap(takeMany(store, { queue, names: ["n1", "n2"], tokens }), ({ jobs, ...taken }) =>
      Effect.map(
        store.ackMany(
          outcomes.flatMap((outcome, index) =>
            jobs.slice(index % 3, (index % 3) + 1).map(({ job, token }) => ({ id: job.id, token, outcome }))
          )
        ),
        (results) => ({ jobs, ...taken, results })
      )
    )
)

/** Any call. */
export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: command("enqueue", request, (store, value) => store.enqueue(value)) },
  command("enqueueMany", fc.array(request, { maxLength: 4 }), (store, values) => store.enqueueMany(values)),
  { weight: 2, arbitrary: claim },
  { weight: 5, arbitrary: claimAndAck },
  command("claimMany", fc.record({ queue, names: fc.subarray(["n1", "n2"]), tokens }), takeMany),
  { weight: 3, arbitrary: claimAndAckMany },
  command("ackMany", fc.array(fc.record({ id, token, outcome }), { maxLength: 4 }), (store, acks) =>
    store.ackMany(acks)
  ),
  command("ack", fc.tuple(position, token, outcome), (store, [at, token, outcome]) =>
    onJob(store, at, (id) => store.ack(id, token, outcome))
  ),
  command("release", fc.tuple(position, token), (store, [at, token]) =>
    onJob(store, at, (id) => store.release(id, token))
  ),
  command("extendLocks", fc.tuple(position, token), (store, [at, token]) =>
    onJob(store, at, (id) => store.extendLocks([{ id, token }], 10))
  ),
  command("recoverStalled", fc.nat({ max: 1 }), (store, maxStalledCount) => store.recoverStalled({ maxStalledCount })),
  { weight: 2, arbitrary: command("cancel", position, (store, at) => onJob(store, at, store.cancel)) },
  command("cancelByDedupe", fc.tuple(name, fc.constantFrom("k1", "k2")), (store, args) =>
    store.cancelByDedupe(...args)
  ),
  command("retry", position, (store, at) => onJob(store, at, store.retry)),
  command("promote", position, (store, at) => onJob(store, at, store.promote)),
  command("remove", position, (store, at) => onJob(store, at, store.remove)),
  command("pause", queue, (store, queue) => store.pause(queue)),
  command("resume", queue, (store, queue) => store.resume(queue)),
  {
    weight: 4,
    arbitrary: command("report", fc.tuple(position, fc.array(report, { maxLength: 3 })), (store, [at, reports]) =>
      onJob(store, at, (flowId) => store.recordChildResults(reports.map((report) => ({ ...report, flowId }))))
    )
  },
  command("sweep", ms, (store, pendingAgeMs) => store.flowSweepWork({ pendingAgeMs, limit: 2 })),
  command("sweep and cascade", fc.boolean(), (store, isWhole) =>
    Effect.flatMap(store.flowSweepWork({ pendingAgeMs: 0 }), ({ cascade }) =>
      Effect.forEach(cascade, ({ children, flowId }) =>
        store.markChildrenCascaded(flowId, children.map(({ childKey }) => childKey).slice(isWhole ? 0 : 1))
      )
    )
  ),
  command("cascade", fc.tuple(position, fc.subarray(["x", "y"])), (store, [at, keys]) =>
    onJob(store, at, (flowId) => store.markChildrenCascaded(flowId, keys))
  ),
  { weight: 2, arbitrary: command("pass", ms, (_store, duration) => TestClock.adjust(duration)) }
)
