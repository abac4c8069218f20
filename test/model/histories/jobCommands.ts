/** Commands about jobs: enqueue, claim, end, look after. */
import type { EnqueueRequest } from "@jobwire/protocol"
import * as fc from "fast-check"
import { keyed } from "../enqueue.ts"
import { command, type Kind, kind, sequence } from "./kinds.ts"
import * as Values from "./values.ts"
import {
  type Command,
  dedupeKeys,
  jobOf,
  jobRef,
  names,
  onJob,
  pick,
  position,
  queues,
  tokenOf,
  tokenRef,
  tokens,
  type World
} from "./world.ts"

/** Putting such jobs in. */
export const enqueues = (request: fc.Arbitrary<EnqueueRequest>): ReadonlyArray<Kind> => [
  kind(18, request, (_world, request) => ({ name: "enqueue", args: [request] })),
  kind(3, fc.array(request, { maxLength: 4 }), (_world, requests) => ({ name: "enqueueMany", args: [requests] }))
]

const claimDraft = fc.record({
  // Where something waits, or just anywhere.
  busy: Values.mostly(fc.constant(true), 6, fc.constant(false)),
  at: position,
  names: Values.mostly(fc.constant([...names]), 4, fc.subarray([...names])),
  // By a token that holds nothing, or just any.
  free: Values.mostly(fc.constant(true), 6, fc.constant(false)),
  lockDurationMs: fc.constantFrom(10, 10, 10, 20, 5, 0, 0.5)
})

const claimable = ({ now, state }: World) =>
  state.jobs.filter(({ record }) => record.state === "waiting" || (record.state === "delayed" && record.runAt <= now))

type ClaimDraft = typeof claimDraft extends fc.Arbitrary<infer A> ? A : never

const claimOf = (world: World, { at, busy, free, lockDurationMs, names }: ClaimDraft) => {
  const job = busy ? pick(claimable(world), at) : undefined
  if (busy && job === undefined) return undefined
  const held = new Set(world.state.jobs.map(({ lock }) => lock?.token))
  const unused = tokens.filter((token) => !held.has(token))
  const queue = job?.record.queue ?? pick(queues, at) ?? "q1"
  return { queue, names, lockDurationMs, candidates: free && unused.length > 0 ? unused : tokens }
}

/** A claim. */
export const claim = command(claimDraft, (world, draft) => {
  const claim = claimOf(world, draft)
  if (claim === undefined) return undefined
  const { candidates, ...options } = claim
  return { name: "claim", args: [{ ...options, token: pick(candidates, draft.at) ?? "t1" }] }
})

// The answer of a claim was lost, so it is made once more.
const again = command(fc.tuple(jobRef("active"), fc.constantFrom(1, 10, 30)), (world, [ref, lockDurationMs]) => {
  const { lock, record } = jobOf(world, ref)?.job ?? {}
  return lock === undefined || record === undefined
    ? undefined
    : { name: "claim", args: [{ queue: record.queue, names: [record.name], token: lock.token, lockDurationMs }] }
})

/** Taking jobs. */
export const claims: ReadonlyArray<Kind> = [
  sequence(15, claim),
  kind(4, fc.tuple(claimDraft, fc.integer({ min: 1, max: 3 })), (world, [draft, length]) => {
    const claim = claimOf(world, draft)
    if (claim === undefined) return undefined
    const { candidates, ...options } = claim
    const held = draft.at % 3 === 0 ? (world.state.jobs.find(({ lock }) => lock !== undefined)?.lock?.token ?? []) : []
    const used = [...new Set([candidates.slice(0, length), held].flat())]
    return { name: "claimMany", args: [{ ...options, tokens: used }] }
  }),
  sequence(3, again),
  sequence(
    1,
    command(jobRef("active"), (world, ref) => {
      const queue = jobOf(world, ref)?.job?.record.queue
      return queue === undefined ? undefined : { name: "pause", args: [queue] }
    }),
    again
  )
]

// One that is to be cancelled, if there is any.
const run = fc.oneof(jobRef("active"), jobRef("active"), jobRef("asked"))

const lockDraft = fc.record({ job: run, token: tokenRef })
type LockDraft = typeof lockDraft extends fc.Arbitrary<infer A> ? A : never

const lockOf = (world: World, { job, token }: LockDraft) => {
  const found = jobOf(world, job)
  return found === undefined ? undefined : { id: found.id, token: tokenOf(found.job, token) }
}

interface EndDraft extends LockDraft {
  readonly outcome: Values.OutcomeDraft
}

const endOf = (world: World, draft: EndDraft) => {
  const lock = lockOf(world, draft)
  return lock === undefined ? undefined : { ...lock, outcome: Values.outcomeFor(lock.id, draft.outcome) }
}

// What settled a job before, once more.
const repeated = ({ state }: World, at: number) => {
  const settled = state.jobs.flatMap(({ ledger, record }) =>
    ledger.flatMap(({ by }) => (by === undefined ? [] : [{ id: record.id, ...by }]))
  )
  return pick(settled, at)
}

/** The end of a run. */
export const end = (outcome: fc.Arbitrary<Values.OutcomeDraft>): fc.Arbitrary<Command> =>
  command(fc.record({ job: run, token: tokenRef, outcome }), (world, draft) => {
    const end = endOf(world, draft)
    return end === undefined ? undefined : { name: "ack", args: [end.id, end.token, end.outcome] }
  })

/** Giving a run back. */
export const release = command(lockDraft, (world, draft) => {
  const lock = lockOf(world, draft)
  return lock === undefined ? undefined : { name: "release", args: [lock.id, lock.token] }
})

const cancelRun = command(
  jobRef("active"),
  onJob((id) => ({ name: "cancel", args: [id] }))
)

const endsOf = (outcome: fc.Arbitrary<Values.OutcomeDraft>): fc.Arbitrary<Command> =>
  command(
    fc.array(fc.record({ job: run, token: tokenRef, outcome }), { minLength: 1, maxLength: 3 }),
    (world, drafts) => {
      const ends = drafts.flatMap((draft) => endOf(world, draft) ?? [])
      return ends.length === 0 ? undefined : { name: "ackMany", args: [ends] }
    }
  )

/** Ends of several runs by which they can be had again. */
export const turnedIn = endsOf(Values.again)

/** Ending runs so, or giving them back. */
export const ends = (outcome: fc.Arbitrary<Values.OutcomeDraft>): ReadonlyArray<Kind> => [
  sequence(15, end(outcome)),
  sequence(12, claim, end(outcome)),
  sequence(2, cancelRun, end(outcome)),
  kind(3, position, (world, at) => {
    const end = repeated(world, at)
    return end === undefined ? undefined : { name: "ack", args: [end.id, end.token, end.outcome] }
  }),
  sequence(3, endsOf(outcome)),
  sequence(3, release),
  sequence(1, cancelRun, release)
]

const extend = command(
  fc.record({
    locks: fc.array(lockDraft, { minLength: 1, maxLength: 3 }),
    durationMs: fc.constantFrom(10, 20, 0, 0.5)
  }),
  (world, { durationMs, locks }) => {
    const held = locks.flatMap((draft) => lockOf(world, draft) ?? [])
    return held.length === 0 ? undefined : { name: "extendLocks", args: [held, durationMs] }
  }
)

/** Taking back what has run out. */
export const recover = (most: number) =>
  command(fc.nat({ max: most }), (_world, maxStalledCount) => ({ name: "recoverStalled", args: [{ maxStalledCount }] }))

/** Running a failed job again. */
export const retry = command(
  jobRef("failed"),
  onJob((id) => ({ name: "retry", args: [id] }))
)

/** Keeping leases, and taking back jobs whose lease has run out. */
export const leases: ReadonlyArray<Kind> = [
  sequence(3, extend),
  sequence(1, cancelRun, extend),
  sequence(4, recover(1)),
  sequence(1, recover(0), retry)
]

/** Making a delayed job run now. */
export const promote = command(
  jobRef("delayed"),
  onJob((id) => ({ name: "promote", args: [id] }))
)

/** Replacing a delayed job by its key, which does not move it to the queue of the request. */
export const replace = command(
  fc.tuple(position, Values.request({ keyed: 0, children: 0 })),
  ({ state }, [at, request]) => {
    const delayed = state.keys.filter(({ name, key }) => keyed(state, name, key).job?.record.state === "delayed")
    const found = pick(delayed, at)
    if (found === undefined) return undefined
    const dedupe = { key: found.key, ttlMs: at % 2 === 0 ? undefined : 20, extend: false, replace: true }
    return { name: "enqueue", args: [{ ...request, id: undefined, name: found.name, dedupe }] }
  }
)

/** Ending a pause. */
export const resume = command(position, ({ state }, at) => {
  const queue = pick(state.paused, at)
  return queue === undefined ? undefined : { name: "resume", args: [queue] }
})

/** What people do by hand. */
export const operators: ReadonlyArray<Kind> = [
  kind(
    6,
    fc.oneof(jobRef("any"), jobRef("active"), jobRef("active"), jobRef("waiting-children")),
    onJob((id) => ({ name: "cancel", args: [id] }))
  ),
  kind(2, fc.tuple(Values.name, fc.constantFrom(...dedupeKeys), position), ({ state }, [name, key, at]) => {
    const known = at % 3 === 0 ? undefined : pick(state.keys, at)
    return { name: "cancelByDedupe", args: [known?.name ?? name, known?.key ?? key] }
  }),
  sequence(3, promote),
  sequence(7, retry),
  kind(
    5,
    fc.oneof(jobRef("any"), jobRef("completed"), jobRef("cancelled"), jobRef("flow"), jobRef("owing")),
    onJob((id) => ({ name: "remove", args: [id] }))
  )
]

/** Pausing queues. */
export const pauses: ReadonlyArray<Kind> = [
  kind(4, Values.queue, (_world, queue) => ({ name: "pause", args: [queue] })),
  sequence(3, resume),
  kind(1, Values.queue, (_world, queue) => ({ name: "resume", args: [queue] })),
  kind(1, fc.constant(undefined), () => ({ name: "pausedQueues", args: [] }))
]
