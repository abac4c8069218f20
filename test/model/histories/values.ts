/** The values of commands: requests, outcomes, schedules. */
import {
  type AckOutcome,
  EnqueueRequest,
  type FlowChildSpec,
  type KeepPolicy,
  type ParentLink,
  ScheduleRecord
} from "@jobwire/protocol"
import * as fc from "fast-check"
import { childKeys, dedupeKeys, ids, names, pick, queues, scheduleGroups, scheduleKeys, type World } from "./world.ts"

/** Mostly nothing, and one time in so many the value. */
export const seldom = <A>(value: fc.Arbitrary<A>, times: number): fc.Arbitrary<A | undefined> =>
  fc.oneof({ weight: times - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })

/** Mostly this, and one time in so many that. */
export const mostly = <A, B>(usual: fc.Arbitrary<A>, times: number, other: fc.Arbitrary<B>): fc.Arbitrary<A | B> =>
  fc.oneof<[fc.WeightedArbitrary<A>, fc.WeightedArbitrary<B>]>(
    { weight: times - 1, arbitrary: usual },
    { weight: 1, arbitrary: other }
  )

export const queue = fc.constantFrom(...queues)
export const name = fc.constantFrom(...names)

/** Durations near each other, so that ends meet. */
export const ms = fc.constantFrom(0, 1, 5, 10, 20, 100)
const uneven = fc.constantFrom(0.5, 4.2, -1)

const value: fc.Arbitrary<unknown> = fc.constantFrom<unknown>(
  undefined,
  null,
  0,
  -0,
  1e21,
  "",
  "text \u{1f600}",
  [1, null, { b: 2, a: [] }],
  { n: 1 },
  { __proto__: null, constructor: "x" }
)

/** An exit. Two of them differ in the order of keys only. */
export const exit: fc.Arbitrary<unknown> = fc.constantFrom<unknown>(
  undefined,
  null,
  "done",
  { a: 1, b: [2] },
  { b: [2], a: 1 }
)

const metadata = fc.constantFrom<Record<string, string>>({}, { m: "1" }, { m: "2" }, { m: "1", toString: "x" })

const rule = fc.record({
  count: seldom(fc.constantFrom(0, 1, 2), 2),
  ageMs: seldom(mostly(ms, 5, fc.constant(4.5)), 2)
})
const keep: fc.Arbitrary<KeepPolicy> = fc.record({
  completed: seldom(rule, 2),
  failed: seldom(rule, 2),
  cancelled: seldom(rule, 2)
})

const backoff = fc.record({
  _tag: fc.constantFrom("fixed" as const, "exponential" as const),
  delayMs: fc.constantFrom(5, 0.5),
  factor: seldom(fc.constant(1.5), 2)
})

const runs = {
  payload: value,
  metadata,
  priority: fc.constantFrom(0, 0, 0, 1, -1, 2_147_483_647),
  attemptsMax: fc.constantFrom(1, 3, 0),
  backoff: seldom(backoff, 6),
  keep: seldom(keep, 3),
  timeoutMs: seldom(fc.constantFrom(50, 0.5), 6)
}

const trace = fc.constantFrom({ traceId: "t", spanId: "", sampled: true, delayed: false })

/** A dedupe policy. */
const dedupe = fc.record({
  key: fc.constantFrom(...dedupeKeys),
  ttlMs: seldom(fc.constantFrom(0, 5, 9.5, 20, 100, 1000), 2),
  extend: fc.boolean(),
  replace: fc.boolean()
})

// The parent may be one of the jobs here, or of another store.
const parent: fc.Arbitrary<ParentLink> = fc.record({
  flowName: fc.constantFrom("flow", "other flow"),
  flowId: fc.constantFrom(...ids),
  childKey: fc.constantFrom(...childKeys),
  parentStoreKey: fc.constantFrom("here", "there"),
  depth: fc.constantFrom(1, 2)
})

/** How many of ten requests have a dedupe key, and how many are children of a flow. */
export interface Shares {
  readonly keyed: number
  readonly children: number
}

const share = <A>(value: fc.Arbitrary<A>, ofTen: number): fc.Arbitrary<A | undefined> =>
  fc.oneof({ weight: ofTen, arbitrary: value }, { weight: 10 - ofTen, arbitrary: fc.constant(undefined) })

/** A request without an id. */
const anonymous = ({ children, keyed }: Shares): fc.Arbitrary<EnqueueRequest> =>
  fc
    .record({
      ...runs,
      name,
      queue,
      dedupe: share(dedupe, keyed),
      trace: seldom(trace, 8),
      parent: share(parent, children),
      delayMs: mostly(fc.constantFrom(0, 0, 0, 5, 20, 100), 6, uneven)
    })
    .map((fields) => EnqueueRequest.make({ ...fields, id: undefined }))

const withId = ([fields, id]: readonly [EnqueueRequest, string | undefined]): EnqueueRequest => ({ ...fields, id })

/** A request to enqueue; half of them leave the id to the store. */
export const request = (shares: Shares): fc.Arbitrary<EnqueueRequest> =>
  fc.tuple(anonymous(shares), seldom(fc.constantFrom(...ids), 2)).map(withId)

/** A request with an id. */
export const identified: fc.Arbitrary<EnqueueRequest> = fc
  .tuple(anonymous({ keyed: 3, children: 3 }), fc.constantFrom(...ids))
  .map(withId)

/** An outcome whose fan-out does not know its parent yet. */
export interface OutcomeDraft {
  readonly outcome: AckOutcome
  readonly children: ReadonlyArray<{ readonly childKey: string; readonly request: EnqueueRequest }>
}

const plain = (outcome: fc.Arbitrary<AckOutcome>): fc.Arbitrary<OutcomeDraft> =>
  outcome.map((outcome) => ({ outcome, children: [] }))

const child = fc.record({ childKey: fc.constantFrom(...childKeys), request: anonymous({ keyed: 1, children: 0 }) })

/** A fan-out, mostly to some children. */
export const fanOut: fc.Arbitrary<OutcomeDraft> = fc.record({
  outcome: fc.boolean().map((failFast) => ({ _tag: "FanOut" as const, failFast, children: [] })),
  children: mostly(
    fc.uniqueArray(child, { minLength: 1, maxLength: 4, selector: ({ childKey }) => childKey }),
    6,
    fc.constant([])
  )
})

/** A run that is to be made again. */
export const again: fc.Arbitrary<OutcomeDraft> = plain(
  fc.record({ _tag: fc.constant("Retry" as const), delayMs: mostly(ms, 5, uneven), exit })
)

/** How a run ends: so many of about ten by a fan-out. */
export const outcomeDraft = (fannedOut: number): fc.Arbitrary<OutcomeDraft> =>
  fc.oneof(
    { weight: 3, arbitrary: plain(exit.map((exit) => ({ _tag: "Complete" as const, exit }))) },
    { weight: 3, arbitrary: plain(exit.map((exit) => ({ _tag: "Fail" as const, exit }))) },
    { weight: 3, arbitrary: again },
    { weight: 2, arbitrary: plain(fc.constant({ _tag: "Cancelled" as const })) },
    { weight: fannedOut, arbitrary: fanOut }
  )

/** The outcome for this job: its children have ids of their own, and the way back to it. */
export const outcomeFor = (id: string, { children, outcome }: OutcomeDraft): AckOutcome =>
  outcome._tag === "FanOut"
    ? { ...outcome, children: children.map(({ childKey, request }) => childSpec(id, childKey, request)) }
    : outcome

const childSpec = (flowId: string, childKey: string, request: EnqueueRequest): FlowChildSpec => ({
  childKey,
  storeKey: childKey === "x" ? "here" : "there",
  request: {
    ...request,
    id: `${flowId}/${childKey}`,
    parent: { flowName: "flow", flowId, childKey, parentStoreKey: "here", depth: 1 }
  }
})

/** A schedule whose next run is so many milliseconds away. */
export const schedule = fc
  .record({
    ...runs,
    key: fc.constantFrom(...scheduleKeys),
    jobName: name,
    queue,
    cadence: fc.constantFrom(
      { everyMs: 10 },
      { everyMs: 10 },
      { everyMs: 9.5 },
      { everyMs: 20 },
      { cron: "0 9 * * 1-5" },
      { cron: "0 9 * * 1-5", tz: "Europe/Berlin" }
    ),
    group: seldom(fc.constantFrom(...scheduleGroups), 2),
    inMs: fc.constantFrom(0, 1, 10, 100)
  })
  .map(({ cadence, inMs, ...fields }) => ({
    inMs,
    record: ScheduleRecord.make({ ...fields, ...cadence, nextRunAt: 0 })
  }))

/** A schedule of the store: the key and where it stands, or some other moment. */
export const scheduleRef = fc.record({
  at: fc.nat({ max: 29 }),
  off: mostly(fc.constant(0), 6, fc.constant(1)),
  step: fc.constantFrom(0, 10, 20, 60_000)
})

/** What a tick says of a schedule. */
export const tickOf = ({ now, state }: World, { at, off, step }: { at: number; off: number; step: number }) => {
  const found = pick(state.schedules, at)
  const standsAt = found?.nextRunAt ?? now
  return {
    key: found?.key ?? pick(scheduleKeys, at) ?? "s1",
    expectedRunAt: standsAt + off,
    nextRunAt: standsAt + step
  }
}
