/** What the tests of flows and of the outbox share: parents, children and reports with defaults. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { AckOutcome } from "../Claim.ts"
import type { EnqueueRequest } from "../Enqueue.ts"
import type { FlowChildRecord, FlowChildReport, FlowChildSpec, FlowReportResult } from "../Flow.ts"
import type { FlowState, JobRecord, ParentLink, TerminalState } from "../Job.ts"
import * as Kit from "./kit.ts"

/** The name of children, and the store that they go to. */
export const childName = "child"
export const childStore = "children"

/** The way back from a child to its parent. */
export const parentLink = (flowId: string, childKey: string, fields?: Partial<ParentLink>): ParentLink => ({
  flowName: "flow",
  flowId,
  childKey,
  parentStoreKey: "parents",
  depth: 1,
  ...fields
})

/** The id of the child with this key. */
export const childId = (flowId: string, key: string): string => `${flowId}/${key}`

/** A child to fan out to. */
export const child = (flowId: string, key: string, fields?: Partial<EnqueueRequest>): FlowChildSpec => ({
  childKey: key,
  storeKey: childStore,
  request: Kit.request({
    id: childId(flowId, key),
    name: childName,
    parent: parentLink(flowId, key),
    ...fields
  })
})

/** The outcome that fans out. */
export const fanOut = (children: ReadonlyArray<FlowChildSpec>, failFast = false): AckOutcome => ({
  _tag: "FanOut",
  failFast,
  children
})

/** What a parent is made from: how it settles, and fields of its own request. */
export interface ParentOptions {
  readonly failFast?: boolean
  readonly fields?: Partial<EnqueueRequest>
}

/** Enqueues a job, claims it and lets it fan out into children with these keys. Gives what held it. */
export const addParent = Effect.fnUntraced(function* (
  store: Kit.Store,
  keys: ReadonlyArray<string>,
  options?: ParentOptions
) {
  const held = yield* Kit.addAndTake(store, options?.fields)
  const children = keys.map((key) => child(held.id, key))
  yield* store.ack(held.id, held.token, fanOut(children, options?.failFast))
  return held
})

const exits: Record<TerminalState, unknown> = { completed: { sum: 3 }, failed: { error: "no" }, cancelled: undefined }

/** How a child ended. */
export const report = (
  flowId: string,
  childKey: string,
  outcome: TerminalState,
  fields?: Partial<FlowChildReport>
): FlowChildReport => ({ flowId, childKey, outcome, exit: exits[outcome], failedReason: undefined, ...fields })

/** Answers to reports. */
export const ignored: FlowReportResult = { applied: false, parentSettled: false }
export const applied: FlowReportResult = { applied: true, parentSettled: false }
export const settled: FlowReportResult = { applied: true, parentSettled: true }

/** Sends reports, and asserts the answers. */
export const records = Effect.fnUntraced(function* (
  store: Kit.Store,
  reports: ReadonlyArray<FlowChildReport>,
  expected: ReadonlyArray<FlowReportResult>
) {
  assert.deepStrictEqual(yield* store.recordChildResults(reports), expected)
})

/** The counters of a flow; what is not given is 0. */
export const flow = (fields?: Partial<FlowState>): FlowState => ({
  failFast: false,
  pending: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  ...fields
})

/** Asserts the state of a parent and the counters of its flow. */
export const isParent = (store: Kit.Store, id: string, state: JobRecord["state"], expected: FlowState) =>
  Kit.isJob(store, id, { state, flow: expected })

/** A dependency row as the fan-out writes it. */
export const row = (flowId: string, key: string, fields?: Partial<FlowChildRecord>): FlowChildRecord => ({
  flowId,
  childKey: key,
  name: childName,
  storeKey: childStore,
  childJobId: childId(flowId, key),
  status: "pending",
  exit: undefined,
  failedReason: undefined,
  cascaded: false,
  ...fields
})

/** A row that a settle or a cancel of the parent has cancelled: its child's store is owed the news. */
export const owed = (flowId: string, key: string): FlowChildRecord => row(flowId, key, { status: "cancelled" })

/** Asserts all dependency rows of a flow; they must fit on one page. */
export const areRows = Effect.fnUntraced(function* (
  store: Kit.Store,
  flowId: string,
  expected: ReadonlyArray<FlowChildRecord>
) {
  assert.deepStrictEqual(yield* store.listChildResults(flowId), { items: expected, cursor: undefined })
})

const keysOf = (
  groups: ReadonlyArray<{ readonly flowId: string; readonly children: ReadonlyArray<{ readonly childKey: string }> }>
) => {
  const keys = groups.map(({ children, flowId }) => [flowId, children.map((each) => each.childKey).toSorted()] as const)
  assert.strictEqual(new Set(keys.map(([flowId]) => flowId)).size, keys.length, "a flow has two groups")
  return Object.fromEntries(keys)
}

/** The keys that a sweep hands out, by flow: `reconcile` and `cascade`, each in the order of flow and key. */
export const sweep = Effect.fnUntraced(function* (store: Kit.Store, options: { pendingAgeMs: number; limit?: number }) {
  const work = yield* store.flowSweepWork(options)
  return { reconcile: keysOf(work.reconcile), cascade: keysOf(work.cascade) }
})

/** Runs the parent once more, which must be the next job of its queue, and completes it. */
export const collect = Effect.fnUntraced(function* (store: Kit.Store, id: string, exit?: unknown) {
  const held = yield* Kit.take(store)
  assert.strictEqual(held.id, id, "claim gave another job than the parent")
  yield* store.ack(id, held.token, Kit.complete(exit))
  return held.job
})
