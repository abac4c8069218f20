/** Rows in every state that the rules allow, by hand and at random. */
import { EnqueueRequest, type FlowState, JobState, type KeepPolicy } from "@jobwire/protocol"
import * as fc from "fast-check"
import { newJob } from "../../../src/core/Enqueue.ts"
import type { JobRow } from "../../../src/core/JobRow.ts"

/** When the rows of tests were enqueued. */
export const enqueuedAt = 1_000_000

export const request = (fields: Partial<EnqueueRequest> = {}): EnqueueRequest =>
  EnqueueRequest.make({ name: "name", queue: "queue", payload: { n: 1 }, ...fields })

/** A waiting job, with some fields changed. */
export const row = (fields: Partial<JobRow> = {}): JobRow => ({ ...newJob("job", 1, request(), enqueuedAt), ...fields })

/** A job in the hands of `token`. */
export const activeRow = (fields: Partial<JobRow> = {}): JobRow =>
  row({ state: "active", token: "token", lockUntil: enqueuedAt + 30_000, processedAt: enqueuedAt + 1, ...fields })

/** A parent that waits for its children. */
export const parkedRow = (flow: Partial<FlowState> = {}, fields: Partial<JobRow> = {}): JobRow =>
  row({
    state: "waiting-children",
    processedAt: enqueuedAt + 1,
    ledgerLength: 1,
    flow: { failFast: false, pending: 2, completed: 0, failed: 0, cancelled: 0, ...flow },
    ...fields
  })

const amount = fc.nat({ max: 5 })

const settledFlow = fc.record({
  failFast: fc.boolean(),
  pending: fc.constant(0),
  completed: amount,
  failed: amount,
  cancelled: amount
})

const pendingFlow = fc.record({
  failFast: fc.boolean(),
  pending: fc.integer({ min: 1, max: 5 }),
  completed: amount,
  failed: amount,
  cancelled: amount
})

const keep: fc.Arbitrary<KeepPolicy | undefined> = fc.option(
  fc.record({
    completed: fc.constant({ count: 1, ageMs: undefined }),
    failed: fc.constant({ count: undefined, ageMs: 10 }),
    cancelled: fc.constant(undefined)
  }),
  { nil: undefined }
)

const parent = fc.option(
  fc.constant({ flowName: "flow", flowId: "up", childKey: "child", parentStoreKey: "store", depth: 1 }),
  { nil: undefined }
)

/** What differs between states: a lease, an end, a manifest. */
const ofState: Readonly<Record<JobState, fc.Arbitrary<Partial<JobRow>>>> = {
  waiting: fc.record({ flow: fc.option(settledFlow, { nil: undefined }) }),
  delayed: fc.record({ flow: fc.option(settledFlow, { nil: undefined }), runAt: fc.constant(enqueuedAt + 60_000) }),
  active: fc.record({
    token: fc.constantFrom("token", "other"),
    lockUntil: fc.constant(enqueuedAt + 30_000),
    processedAt: fc.constant(enqueuedAt + 1),
    cancelRequested: fc.boolean(),
    flow: fc.option(settledFlow, { nil: undefined })
  }),
  "waiting-children": fc.record({ flow: pendingFlow }),
  completed: fc.record({ finishedAt: fc.constant(enqueuedAt + 2), exit: fc.constant("1") }),
  failed: fc.record({ finishedAt: fc.constant(enqueuedAt + 2), flow: fc.option(settledFlow, { nil: undefined }) }),
  cancelled: fc.record({ finishedAt: fc.constant(enqueuedAt + 2) })
}

/** Every state. */
export const states = JobState.literals

/** A job in any state, as the rules allow it. */
export const anyRow: fc.Arbitrary<JobRow> = fc.constantFrom(...states).chain((state) =>
  fc
    .tuple(
      ofState[state],
      fc.record({
        attemptsMade: amount,
        stalledCount: amount,
        ledgerLength: amount,
        dedupeKey: fc.option(fc.constant("key"), { nil: undefined }),
        keep,
        parent
      })
    )
    .map(([special, common]) => row({ state, ...common, ...special }))
)
