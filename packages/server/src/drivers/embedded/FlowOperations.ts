/** The parent's side of a flow: the ends of its children, and what a sweeper must look after. */
import type { FlowChildReport, FlowReportResult, FlowState, JobStore } from "@jobwire/protocol"
import { Effect, Result } from "effect"
import { cascadeChild, count, rearmChild } from "../../core/Flow.ts"
import type { ChildRow } from "../../core/JobRow.ts"
import { decodeChildCursor, encodeChildCursor } from "../../core/Order.ts"
import { takePage } from "../../core/Page.ts"
import { applyReport, settleParent } from "../../core/Settle.ts"
import { wholeMs } from "../../core/Time.ts"
import { apply } from "./Apply.ts"
import type { Engine, Unit } from "./Engine.ts"
import * as Records from "./Records.ts"

const defaultLimit = 1000

export const recordChildResults =
  (engine: Engine): JobStore.Service["recordChildResults"] =>
  (reports) =>
    engine.write((unit) => {
      const results = reports.map((): FlowReportResult => ({ applied: false, parentSettled: false }))
      for (const [flowId, applied] of applyReports(unit, reports)) {
        for (const index of applied) results[index] = { applied: true, parentSettled: false }
        const settledBy = settle(unit, flowId, reports, applied)
        if (settledBy !== undefined) results[settledBy] = { applied: true, parentSettled: true }
      }
      return results
    })

// Every row first; answers the positions of the applied reports by flow.
const applyReports = (
  { tables }: Unit,
  reports: ReadonlyArray<FlowChildReport>
): ReadonlyMap<string, ReadonlyArray<number>> => {
  const applied = new Map<string, Array<number>>()
  for (const [index, report] of reports.entries()) {
    const before = tables.children.get(report.flowId, report.childKey)
    const after = applyReport(before, report)
    if (before === undefined || after === undefined) continue
    tables.children.update(before, after)
    const positions = applied.get(report.flowId)
    if (positions === undefined) applied.set(report.flowId, [index])
    else positions.push(index)
  }
  return applied
}

// Then the parent, once. Answers the position of the report that settled it.
const settle = (
  unit: Unit,
  flowId: string,
  reports: ReadonlyArray<FlowChildReport>,
  applied: ReadonlyArray<number>
): number | undefined => {
  const parent = unit.tables.jobs.get(flowId)
  if (parent?.flow === undefined) return undefined
  let flow: FlowState = parent.flow
  let firstFailed: number | undefined
  for (const index of applied) {
    const outcome = reports[index]?.outcome
    if (outcome === undefined) continue
    flow = count(flow, outcome)
    if (outcome === "failed") firstFailed ??= index
  }
  const counted = { ...parent, flow }
  const settled = settleParent(counted, firstFailed === undefined ? undefined : reports[firstFailed], unit.now)
  apply(unit, parent, settled?.decision ?? { row: counted })
  if (settled === undefined) return undefined
  return settled.by === "failure" ? firstFailed : applied.at(-1)
}

export const listChildResults =
  (engine: Engine): JobStore.Service["listChildResults"] =>
  (flowId, options) => {
    const after = options?.cursor === undefined ? Result.succeed(undefined) : decodeChildCursor(options.cursor)
    if (Result.isFailure(after)) return Effect.fail(after.failure)
    const limits = pageLimits(engine, options?.limit)
    return engine.read((tables) => {
      const rows = tables.children.list(flowId, after.success)
      const { items, more } = takePage(rows, limits, Records.childBytes)
      const last = items.at(-1)
      return {
        items: items.map(Records.childRecord),
        cursor: more && last !== undefined ? encodeChildCursor(last.childKey) : undefined
      }
    })
  }

export const flowSweepWork =
  (engine: Engine): JobStore.Service["flowSweepWork"] =>
  ({ limit, pendingAgeMs }) =>
    engine.write(({ now, tables }) => {
      const limits = pageLimits(engine, limit)
      const old = takePage(tables.children.pendingSince(now - wholeMs(pendingAgeMs)), limits, Records.requestBytes)
      for (const child of old.items) tables.children.update(child, rearmChild(child, now))
      const owed = takePage(tables.children.owedCascade(), limits, () => 0)
      return {
        reconcile: byFlow(old.items, Records.childSpec),
        cascade: byFlow(owed.items, Records.cascadeChild)
      }
    })

export const markChildrenCascaded =
  (engine: Engine): JobStore.Service["markChildrenCascaded"] =>
  (flowId, childKeys) =>
    engine.write(({ tables }) => {
      for (const key of childKeys) {
        const child = tables.children.get(flowId, key)
        if (child !== undefined && !child.cascaded) tables.children.update(child, cascadeChild(child))
      }
    })

const pageLimits = ({ limits }: Engine, limit: number | undefined) => ({
  length: Math.min(limit ?? defaultLimit, limits.pageLength),
  bytes: limits.pageBytes
})

const byFlow = <A>(
  rows: ReadonlyArray<ChildRow>,
  toChild: (row: ChildRow) => A
): ReadonlyArray<{ readonly flowId: string; readonly children: ReadonlyArray<A> }> => {
  const groups = new Map<string, Array<A>>()
  for (const row of rows) {
    const group = groups.get(row.flowId)
    if (group === undefined) groups.set(row.flowId, [toChild(row)])
    else group.push(toChild(row))
  }
  return Array.from(groups, ([flowId, children]) => ({ flowId, children }))
}
