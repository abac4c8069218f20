/** What may happen to jobs. */
import type { EnqueueRequest } from "@jobwire/protocol"
import { keyed } from "../enqueue.ts"
import { isOver, type Job } from "../state.ts"
import { type Branches, changes, is, of, says, type Seen, succeeded, valueOf, was, went } from "./seen.ts"

const added = ({ after, before }: Seen): number => after.jobs.length - before.jobs.length

const keyedBy = ({ before }: Seen, { dedupe, name }: EnqueueRequest) => keyed(before, name, dedupe?.key ?? "")

// The rules of the key were asked, and the request was not inserted.
const isDropped = (seen: Seen, request: EnqueueRequest): boolean =>
  succeeded(seen) && added(seen) === 0 && request.dedupe !== undefined && was(seen, request.id ?? "") === undefined

const replaces = (seen: Seen, request: EnqueueRequest): boolean =>
  isDropped(seen, request) && request.dedupe?.replace === true && keyedBy(seen, request).job?.record.state === "delayed"

const isPlain = (seen: Seen, request: EnqueueRequest): boolean => isDropped(seen, request) && !replaces(seen, request)

const enqueues: Branches = {
  "enqueue: under an id of the caller": of("enqueue", ([{ id }], seen) => id !== undefined && added(seen) === 1),
  "enqueue: under an id of the store": of("enqueue", ([{ id }], seen) => id === undefined && added(seen) === 1),
  "enqueue: delayed": of("enqueue", ([{ delayMs }], seen) => delayMs > 0 && added(seen) === 1),
  "enqueue: the id exists": of("enqueue", ([{ id = "" }], seen) => was(seen, id) !== undefined),
  "enqueue: the key is held by a pending job": of(
    "enqueue",
    ([request], seen) => isPlain(seen, request) && keyedBy(seen, request).key?.until === undefined
  ),
  "enqueue: the key is held by a window": of(
    "enqueue",
    ([request], seen) => isPlain(seen, request) && keyedBy(seen, request).key?.until !== undefined
  ),
  "enqueue: the key is held by the window of a job that is gone": of(
    "enqueue",
    ([request], seen) => isPlain(seen, request) && keyedBy(seen, request).job === undefined
  ),
  "enqueue: a window is extended": of(
    "enqueue",
    ([request], seen) => isPlain(seen, request) && seen.after.keys !== seen.before.keys
  ),
  "enqueue: a delayed job is replaced": of("enqueue", ([request], seen) => replaces(seen, request)),
  "enqueue: a delayed job is replaced after its window": of(
    "enqueue",
    ([request], seen) => replaces(seen, request) && (keyedBy(seen, request).key?.until ?? Infinity) <= seen.now
  ),
  "enqueue: the key of a pending job is taken after its window": of("enqueue", ([request], seen) => {
    const { job } = keyedBy(seen, request)
    return added(seen) === 1 && request.dedupe !== undefined && job !== undefined && !isOver(job)
  }),
  "enqueueMany: some are new and some are not": of(
    "enqueueMany",
    ([requests], seen) => added(seen) > 0 && added(seen) < requests.length
  )
}

const holder = ({ before }: Seen, queue: string, token: string): Job | undefined =>
  before.jobs.find(({ lock, record }) => lock?.token === token && record.queue === queue)

const isPaused = ({ before }: Seen, queue: string): boolean => before.paused.includes(queue)

const claims: Branches = {
  "claim: a job": of(
    "claim",
    ([{ queue, token }], seen) => says(seen, '"Claimed"') && holder(seen, queue, token) === undefined
  ),
  "claim: nothing": of("claim", (_args, seen) => says(seen, '"Empty"')),
  "claim: nothing yet": of("claim", (_args, seen) => says(seen, '"Empty"') && says(seen, '"nextRunAt"')),
  "claim: nothing in a pause": of("claim", ([{ queue }], seen) => {
    const waits = seen.after.jobs.some(({ record }) => record.queue === queue && record.state === "waiting")
    return says(seen, '"Empty"') && isPaused(seen, queue) && waits
  }),
  "claim: jobs come due": of("claim", (_args, seen) => went(seen, "delayed", "waiting")),
  "claim: jobs come due in a pause": of(
    "claim",
    ([{ queue }], seen) => isPaused(seen, queue) && went(seen, "delayed", "waiting")
  ),
  "claim: the same job again": of("claim", ([{ queue, token }], seen) => holder(seen, queue, token) !== undefined),
  "claim: the same job again, after its lease": of(
    "claim",
    ([{ queue, token }], seen) => (holder(seen, queue, token)?.lock?.until ?? Infinity) <= seen.now
  ),
  "claim: the same job again, in a pause": of(
    "claim",
    ([{ queue, token }], seen) => isPaused(seen, queue) && holder(seen, queue, token) !== undefined
  ),
  "claim: a token that holds a job of another queue": of(
    "claim",
    ([{ queue, token }], seen) =>
      says(seen, '"Claimed"') &&
      seen.before.jobs.some(({ lock, record }) => lock?.token === token && record.queue !== queue)
  ),
  "claimMany: as many as asked for": of("claimMany", (_args, seen) => succeeded(seen) && !says(seen, '"empty"')),
  "claimMany: fewer": of("claimMany", (_args, seen) => says(seen, '"job"') && says(seen, '"empty"')),
  "claimMany: some of them again": of("claimMany", ([{ queue, tokens }], seen) =>
    tokens.some((token) => holder(seen, queue, token) !== undefined)
  )
}

const acked = (seen: Seen, id: string, token: string): Job | undefined => {
  const job = was(seen, id)
  return job?.lock?.token === token ? job : undefined
}

const outcomes = ["Complete", "Fail", "Retry", "Cancelled", "FanOut"] as const

const acks: Branches = {
  ...Object.fromEntries(
    outcomes.flatMap((tag) => [
      [
        `ack: ${tag}`,
        of("ack", ([id, token, { _tag }], seen) => _tag === tag && succeeded(seen) && acked(seen, id, token) !== undefined)
      ],
      [
        `ack: ${tag} is repeated`,
        of("ack", ([id, token, { _tag }], seen) => _tag === tag && succeeded(seen) && acked(seen, id, token) === undefined)
      ],
      [
        `ack: ${tag} after a cancel was asked for`,
        of("ack", ([id, token, { _tag }], seen) => _tag === tag && acked(seen, id, token)?.record.cancelRequested === true)
      ]
    ])
  ),
  "ack: of a token that has settled the job otherwise": of(
    "ack",
    ([id, token], seen) => !succeeded(seen) && was(seen, id)?.ledger.some(({ by }) => by?.token === token) === true
  ),
  "ack: Retry with a delay": of("ack", ([id], seen) => is(seen, id)?.record.state === "delayed" && succeeded(seen)),
  "ack: after the lease": of(
    "ack",
    ([id, token], seen) => succeeded(seen) && (acked(seen, id, token)?.lock?.until ?? Infinity) <= seen.now
  ),
  "ackMany: ends beside failures": of("ackMany", (_args, seen) => says(seen, '"Acked"') && says(seen, "Error")),
  "ackMany: a refusal": of("ackMany", (_args, seen) => says(seen, '"InvalidArgument"')),
  "release: back in line": of("release", (_args, seen) => went(seen, "active", "waiting")),
  "release: a cancel is honoured": of(
    "release",
    ([id], seen) => succeeded(seen) && was(seen, id)?.record.cancelRequested === true
  )
}

const leases: Branches = {
  "extendLocks: extended": of("extendLocks", (_args, seen) => changes(seen).length > 0),
  "extendLocks: extended after the lease": of("extendLocks", (_args, seen) =>
    changes(seen).some(([{ lock }]) => (lock?.until ?? Infinity) <= seen.now)
  ),
  "extendLocks: lost": of("extendLocks", (_args, seen) => says(seen, '"lost":["')),
  "extendLocks: a cancel is told": of("extendLocks", (_args, seen) => says(seen, '"cancelRequested":["')),
  "recoverStalled: back in line": of("recoverStalled", (_args, seen) => says(seen, '"failed":false')),
  "recoverStalled: failed": of("recoverStalled", (_args, seen) => says(seen, '"failed":true')),
  "recoverStalled: several": of("recoverStalled", (_args, seen) => changes(seen).length > 1),
  "recoverStalled: a cancel is honoured": of("recoverStalled", (_args, seen) =>
    changes(seen).some(([{ record }]) => record.cancelRequested)
  )
}

const pendingStates = ["waiting", "delayed", "active", "waiting-children"] as const

const byHand: Branches = {
  ...Object.fromEntries(
    pendingStates.flatMap((state) => [
      [`cancel: ${state}`, of("cancel", ([id], seen) => succeeded(seen) && was(seen, id)?.record.state === state)],
      [`remove: ${state}`, of("remove", ([id], seen) => was(seen, id)?.record.state === state)]
    ])
  ),
  "cancelByDedupe: cancelled": of("cancelByDedupe", (_args, seen) => valueOf(seen) === true),
  "cancelByDedupe: cancelled after the window": of(
    "cancelByDedupe",
    ([name, key], seen) =>
      valueOf(seen) === true && (keyed(seen.before, name, key).key?.until ?? Infinity) <= seen.now
  ),
  "cancelByDedupe: nobody": of("cancelByDedupe", (_args, seen) => valueOf(seen) === false),
  "cancelByDedupe: a finished job": of("cancelByDedupe", ([name, key], seen) => {
    const { job } = keyed(seen.before, name, key)
    return job !== undefined && isOver(job)
  }),
  "promote: a job in a pause": of("promote", ([id], seen) => {
    const queue = was(seen, id)?.record.queue
    return succeeded(seen) && queue !== undefined && isPaused(seen, queue)
  }),
  "retry: a job that stalled too often": of(
    "retry",
    ([id], seen) => succeeded(seen) && (was(seen, id)?.record.failedReason?.includes("stalled") ?? false)
  ),
  "remove: a finished job": of("remove", ([id], seen) => {
    const job = was(seen, id)
    return valueOf(seen) === true && job !== undefined && isOver(job)
  })
}

const isGone = (seen: Seen, which: (job: Job) => boolean): boolean =>
  seen.call.name !== "remove" && changes(seen).some(([job, now]) => now === undefined && which(job))

const retention: Branches = {
  "retention: a job goes as it ends": (seen) => isGone(seen, (job) => !isOver(job)),
  "retention: an earlier job goes": (seen) => isGone(seen, isOver)
}

/** All of them. */
export const jobBranches: Branches = { ...enqueues, ...claims, ...acks, ...leases, ...byHand, ...retention }
