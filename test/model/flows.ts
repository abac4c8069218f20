/** The parent's side of a flow after its fan-out: reports, rows, and what a sweeper must look after. */
import type { FlowChildReport, FlowSweepWork } from "@jobwire/protocol"
import { refuse, type Step, succeed } from "./answers.ts"
import { end, owedCascades } from "./ends.ts"
import { runAgain } from "./fanOut.ts"
import { type Child, compareText, find, type Job, json, put, type State, whole } from "./state.ts"

const childOf = (job: Job | undefined, childKey: string): Child | undefined =>
  job?.flow?.children.find((child) => child.childKey === childKey)

const putChild = (state: State, job: Job, child: Child): State =>
  job.flow === undefined
    ? state
    : put(state, {
        ...job,
        flow: {
          ...job.flow,
          children: job.flow.children.map((each) => (each.childKey === child.childKey ? child : each))
        }
      })

const apply = (state: State, report: FlowChildReport): State | undefined => {
  const job = find(state, report.flowId)
  const child = childOf(job, report.childKey)
  if (job === undefined || child?.status !== "pending") return undefined
  const { exit, failedReason, outcome } = report
  return putChild(state, job, { ...child, status: outcome, exit: json(exit), failedReason, cascaded: true })
}

/** What the applied reports do to their parent, and which of them settles it. */
const settle = (
  state: State,
  job: Job,
  applied: ReadonlyArray<readonly [index: number, report: FlowChildReport]>,
  now: number
): readonly [State, number | undefined] => {
  const failed = applied.find(([, report]) => report.outcome === "failed")
  if (job.flow?.failFast === true && failed !== undefined) {
    // Of the reason the contract fixes this much; the store may say more around it.
    const failedReason = `"${failed[1].childKey}" failed`
    return [end(state, job, "failed", now, { failedReason }), failed[0]]
  }
  return job.flow?.children.some(({ status }) => status === "pending") === true
    ? [state, undefined]
    : [runAgain(state, job, now), applied.at(-1)?.[0]]
}

export const recordChildResults: Step<"recordChildResults"> = (before, now, [reports]) => {
  let state = before
  const applied: Array<readonly [index: number, report: FlowChildReport]> = []
  for (const [index, report] of reports.entries()) {
    const after = apply(state, report)
    if (after === undefined) continue
    state = after
    applied.push([index, report])
  }
  // The contract leaves open which parent of a batch comes first in line: here the one that was reported first.
  const settledBy = new Set<number | undefined>()
  for (const [flowId, mine] of Map.groupBy(applied, ([, report]) => report.flowId)) {
    const parent = find(state, flowId)
    if (parent === undefined) continue
    const [after, by] = settle(state, parent, mine, now)
    state = after
    settledBy.add(by)
  }
  return succeed(
    state,
    reports.map((_, index) => ({
      applied: applied.some(([at]) => at === index),
      parentSettled: settledBy.has(index)
    }))
  )
}

export const listChildResults: Step<"listChildResults"> = (state, _now, [flowId, options], told) => {
  const from = state.childCursors.findLast(({ cursor }) => cursor === options?.cursor)
  // That a cursor which no store gave is refused, the contract says of `list` only.
  if (options?.cursor !== undefined && from === undefined) return refuse(state, "options.cursor")
  const rows = (find(state, flowId)?.flow?.children ?? [])
    .filter(({ childKey }) => from === undefined || compareText(childKey, from.childKey) > 0)
    .toSorted((one, other) => compareText(one.childKey, other.childKey))
  const items = rows.slice(0, options?.limit ?? 1000)
  const last = items.at(-1)
  const ends = rows.length === items.length || last === undefined
  const cursor = ends ? undefined : (told?.cursor ?? `children-${last.childKey}`)
  return succeed(
    cursor === undefined || last === undefined
      ? state
      : { ...state, childCursors: [...state.childCursors, { cursor, flowId, childKey: last.childKey }] },
    {
      items: items.map(({ cascaded, childKey, exit, failedReason, request, status, storeKey }) => ({
        flowId,
        childKey,
        name: request.name,
        storeKey,
        childJobId: request.id ?? "",
        status,
        exit,
        failedReason,
        cascaded
      })),
      cursor
    }
  )
}

interface Owed {
  readonly flowId: string
  readonly child: Child
}

const keyOf = (flowId: string, childKey: string): string => JSON.stringify([flowId, childKey])

/** At most so many, in their order; where equal ones are cut, those that the store took. */
const cut = (
  owed: ReadonlyArray<Owed>,
  limit: number,
  rank: (owed: Owed) => number,
  told: ReadonlyArray<{ readonly flowId: string; readonly children: ReadonlyArray<{ readonly childKey: string }> }>
): ReadonlyArray<Owed> => {
  const taken = new Set(told.flatMap(({ children, flowId }) => children.map((child) => keyOf(flowId, child.childKey))))
  const wasTaken = ({ child, flowId }: Owed): number => (taken.has(keyOf(flowId, child.childKey)) ? 0 : 1)
  return owed.toSorted((one, other) => rank(one) - rank(other) || wasTaken(one) - wasTaken(other)).slice(0, limit)
}

const byFlow = <A>(owed: ReadonlyArray<Owed>, show: (child: Child) => A) =>
  Array.from(
    Map.groupBy(owed, ({ flowId }) => flowId),
    ([flowId, each]) => ({ flowId, children: each.map(({ child }) => show(child)) })
  )

export const flowSweepWork: Step<"flowSweepWork"> = (state, now, [{ limit = 1000, pendingAgeMs }], told) => {
  const old = state.jobs
    .filter(({ record }) => record.state === "waiting-children")
    .flatMap((job) => (job.flow?.children ?? []).map((child) => ({ flowId: job.record.id, child })))
    .filter(({ child }) => child.status === "pending" && child.since <= now - whole(pendingAgeMs))
  const reconcile = cut(old, limit, ({ child }) => child.since, told?.reconcile ?? [])
  const cascade = cut(owedCascades(state), limit, () => 0, told?.cascade ?? [])
  const after = reconcile.reduce((rearmed, { child, flowId }) => {
    const job = find(rearmed, flowId)
    return job === undefined ? rearmed : putChild(rearmed, job, { ...child, since: now })
  }, state)
  return succeed<FlowSweepWork>(after, {
    reconcile: byFlow(reconcile, ({ childKey, request, storeKey }) => ({ childKey, storeKey, request })),
    cascade: byFlow(cascade, ({ childKey, request, storeKey }) => ({
      childKey,
      storeKey,
      childJobId: request.id ?? ""
    }))
  })
}

export const markChildrenCascaded: Step<"markChildrenCascaded"> = (before, _now, [flowId, childKeys]) =>
  succeed(
    childKeys.reduce((state, childKey) => {
      const job = find(state, flowId)
      const child = childOf(job, childKey)
      // The contract leaves open what it does to a row that owes nothing: here it is marked all the same.
      return job === undefined || child === undefined ? state : putChild(state, job, { ...child, cascaded: true })
    }, before),
    undefined
  )
