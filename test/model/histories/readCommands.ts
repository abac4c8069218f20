/** Commands that look, wait, or are refused. */
import { type AckOutcome, EnqueueRequest, JobState, type ListOptions, ScheduleRecord } from "@jobwire/protocol"
import * as fc from "fast-check"
import type { Call } from "../answers.ts"
import { type Kind, kind } from "./kinds.ts"
import * as Values from "./values.ts"
import { jobRef, onJob, pick, position, type World } from "./world.ts"

const listOptions: fc.Arbitrary<ListOptions> = fc.record({
  queue: Values.seldom(Values.queue, 3),
  name: Values.seldom(Values.name, 3),
  states: Values.seldom(fc.subarray([...JobState.literals]), 3),
  metadata: Values.seldom(fc.constantFrom<Record<string, string>>({}, { m: "1" }, { toString: "x" }), 4),
  orderBy: Values.seldom(fc.constantFrom("enqueuedAt" as const, "runAt" as const, "finishedAt" as const), 2),
  order: Values.seldom(fc.constantFrom("asc" as const, "desc" as const), 2),
  limit: Values.seldom(fc.constantFrom(1, 2, 3, 2000), 2)
})

/** Looking. */
export const reads: ReadonlyArray<Kind> = [
  kind(3, listOptions, (_world, options) => ({ name: "list", args: [options] })),
  // The next page, mostly with the options of the one before.
  kind(4, fc.tuple(position, fc.constantFrom(undefined, 1, 2), fc.nat({ max: 3 })), ({ state }, [at, limit, turn]) => {
    const page = pick(state.listCursors, at)
    if (page === undefined) return undefined
    const { cursor, options } = page
    const order = turn > 0 ? options.order : options.order === "asc" ? "desc" : "asc"
    return { name: "list", args: [{ ...options, cursor, limit, order }] }
  }),
  kind(
    2,
    jobRef("any"),
    onJob((id) => ({ name: "getJob", args: [id] }))
  ),
  kind(
    1,
    jobRef("any"),
    onJob((id) => ({ name: "getAttempts", args: [id] }))
  ),
  kind(1, Values.seldom(Values.queue, 2), (_world, queue) => ({ name: "counts", args: [queue] }))
]

const request = EnqueueRequest.make({ name: "n1", queue: "q1" })

const held = ({ state }: World) => state.jobs.find(({ lock }) => lock !== undefined)

// Each is good but for one argument.
const refused: ReadonlyArray<(world: World) => Call> = [
  () => ({ name: "enqueue", args: [{ ...request, queue: "" }] }),
  () => ({ name: "enqueue", args: [{ ...request, payload: Number.NaN }] }),
  () => ({ name: "enqueueMany", args: [[request, { ...request, id: "" }]] }),
  () => ({ name: "claim", args: [{ queue: "q1", names: ["n1", "n2"], token: "", lockDurationMs: 10 }] }),
  () => ({ name: "claimMany", args: [{ queue: "q1", names: ["n1", "n2"], tokens: [], lockDurationMs: 10 }] }),
  () => ({ name: "claimMany", args: [{ queue: "q1", names: ["n1"], tokens: ["t1", "t2", "t1"], lockDurationMs: 10 }] }),
  (world) => ({ name: "ack", args: fannedOut(world, [request]) }),
  (world) => ({
    name: "ack",
    args: fannedOut(world, [
      { ...request, id: "one" },
      { ...request, id: "two" }
    ])
  }),
  (world) => {
    const [id, token, outcome] = fannedOut(world, [request])
    const other = held(world)
    const complete = { _tag: "Complete" as const, exit: "done" }
    return {
      name: "ackMany",
      args: [
        [
          { id, token, outcome },
          { id: other?.record.id ?? id, token: other?.lock?.token ?? token, outcome: complete }
        ]
      ]
    }
  },
  () => ({ name: "recoverStalled", args: [{ maxStalledCount: -1 }] }),
  ({ now }) => ({
    name: "upsertSchedule",
    args: [ScheduleRecord.make({ key: "s1", jobName: "n1", queue: "q1", nextRunAt: now })]
  }),
  (world) => {
    const { expectedRunAt, key, nextRunAt } = Values.tickOf(world, { at: 0, off: 0, step: 10 })
    return { name: "tickSchedule", args: [key, expectedRunAt, nextRunAt, request] }
  },
  () => ({ name: "list", args: [{ limit: 0 }] }),
  () => ({ name: "list", args: [{ cursor: "no page's end" }] }),
  () => ({ name: "peekOutbox", args: [{ limit: 0.5, after: undefined }] }),
  () => ({ name: "flowSweepWork", args: [{ pendingAgeMs: 0, limit: 0 }] }),
  () => ({ name: "listChildResults", args: ["a", { cursor: undefined, limit: -1 }] })
]

const fannedOut = (world: World, requests: ReadonlyArray<EnqueueRequest>): readonly [string, string, AckOutcome] => {
  const job = held(world)
  const children = requests.map((request) => ({ childKey: "x", storeKey: "here", request }))
  const outcome = { _tag: "FanOut" as const, failFast: false, children }
  return [job?.record.id ?? "a", job?.lock?.token ?? "t1", outcome]
}

/** Calls that break the contract. */
export const refusals: ReadonlyArray<Kind> = [
  kind(3, fc.nat({ max: refused.length - 1 }), (world, at) => refused[at]?.(world))
]
