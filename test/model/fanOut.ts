/** The fan-out of a parent. */
import type { AckOutcome } from "@jobwire/protocol"
import { end, writeRun } from "./ends.ts"
import { type Child, type Job, json, put, type Run, type State, toBack, wake } from "./state.ts"

type FanOut = Extract<AckOutcome, { readonly _tag: "FanOut" }>

const children = (outcome: FanOut, now: number): ReadonlyArray<Child> =>
  outcome.children.map(({ childKey, request, storeKey }) => ({
    childKey,
    storeKey,
    // Kept as it was given: its durations are rounded when it is enqueued.
    request: { ...request, payload: json(request.payload) },
    status: "pending",
    exit: undefined,
    failedReason: undefined,
    cascaded: false,
    since: now
  }))

/** The parent that can run again, from now on and at the back of the line. */
export const runAgain = (state: State, job: Job, now: number): State => {
  const { name, queue } = job.record
  return wake(toBack(state, { ...job, record: { ...job.record, state: "waiting", runAt: now } }), queue, name)
}

/** The state after the holder of the job has fanned it out. */
export const fanOut = (state: State, job: Job, outcome: FanOut, by: Run["by"], now: number): State => {
  // A parent has one flow in its life.
  const flow = job.flow ?? { failFast: outcome.failFast, children: children(outcome, now) }
  const fanned: Job = { ...job, flow }
  if (job.record.cancelRequested) return end(state, fanned, "cancelled", now, { by })
  const written = writeRun(fanned, now, "fanned-out", undefined, by)
  const parked: Job = { ...written, lock: undefined, record: { ...written.record, state: "waiting-children" } }
  return flow.children.some(({ status }) => status === "pending") ? put(state, parked) : runAgain(state, parked, now)
}
