/** A step of the model: what any call does, and what it answers. */
import type { OperationName, Success } from "@jobwire/protocol"
import { type Call, type CallOf, refuse, type Step, type Stepped, succeed } from "./answers.ts"
import * as claims from "./claims.ts"
import * as enqueues from "./enqueue.ts"
import * as flows from "./flows.ts"
import * as leases from "./leases.ts"
import * as operator from "./operator.ts"
import * as outbox from "./outbox.ts"
import * as queues from "./queues.ts"
import * as reads from "./reads.ts"
import { problemOf } from "./refusals.ts"
import * as schedules from "./schedules.ts"
import type { State } from "./state.ts"

const steps: { readonly [Name in OperationName]: Step<Name> } = {
  enqueue: enqueues.enqueue,
  enqueueMany: enqueues.enqueueMany,
  claim: claims.claim,
  claimMany: claims.claimMany,
  ack: leases.ack,
  ackMany: leases.ackMany,
  release: leases.release,
  extendLocks: leases.extendLocks,
  recoverStalled: leases.recoverStalled,
  // When it ends is asked of `waits.ts`.
  awaitWake: (state) => succeed(state, undefined),
  getJob: reads.getJob,
  getAttempts: reads.getAttempts,
  list: reads.list,
  counts: reads.counts,
  retry: operator.retry,
  cancel: operator.cancel,
  cancelByDedupe: operator.cancelByDedupe,
  promote: operator.promote,
  remove: operator.remove,
  pause: queues.pause,
  resume: queues.resume,
  pausedQueues: queues.pausedQueues,
  upsertSchedule: schedules.upsertSchedule,
  removeSchedule: schedules.removeSchedule,
  listSchedules: schedules.listSchedules,
  dueSchedules: schedules.dueSchedules,
  tickSchedule: schedules.tickSchedule,
  advanceSchedule: schedules.advanceSchedule,
  recordChildResults: flows.recordChildResults,
  listChildResults: flows.listChildResults,
  flowSweepWork: flows.flowSweepWork,
  markChildrenCascaded: flows.markChildrenCascaded,
  peekOutbox: outbox.peekOutbox,
  deleteOutbox: outbox.deleteOutbox
}

/** What a call does to a state at a time, and what it answers. `told` is what the store answered, if it succeeded. */
export const step = (state: State, now: number, call: Call, told?: unknown): Stepped<unknown> => {
  const field = problemOf(call)
  return field === undefined ? run(state, now, call, told) : refuse(state, field)
}

const run = <Name extends OperationName>(
  state: State,
  now: number,
  { args, name }: CallOf<Name>,
  told: unknown
): Stepped<unknown> =>
  // The store's answer is one of this operation.
  steps[name](state, now, args, told as Success<Name> | undefined)
