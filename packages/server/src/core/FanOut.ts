/** Where a fan-out leaves its parent. */
import type { AckOutcome, FlowState } from "@jobwire/protocol"
import type { Decision } from "./Decision.ts"
import { childRows, resume } from "./Flow.ts"
import type { JobRow } from "./JobRow.ts"
import { type AckedBy, nextEntry } from "./Ledger.ts"
import { terminate } from "./Terminal.ts"

/**
 * A fan-out by the holder of the lock. A manifest is written once: a parent that has one keeps it, whatever the new
 * children are. A pending cancel wins over parking.
 */
export const fanOut = (
  row: JobRow,
  outcome: Extract<AckOutcome, { readonly _tag: "FanOut" }>,
  by: AckedBy,
  now: number
): Decision => {
  const flow = row.flow ?? newFlow(outcome)
  const manifest = row.flow === undefined ? { children: childRows(row.id, outcome.children, now) } : {}
  const fanned: JobRow = { ...row, flow }
  if (row.cancelRequested) return { ...terminate(fanned, "cancelled", now, { by }), ...manifest }
  const runs = flow.pending === 0
  const unlocked: JobRow = {
    ...fanned,
    state: "waiting-children",
    token: undefined,
    lockUntil: undefined,
    ledgerLength: row.ledgerLength + 1
  }
  return {
    row: runs ? resume(unlocked, now) : unlocked,
    toBack: runs,
    wakes: runs,
    attempt: nextEntry(row, "fanned-out", now, undefined, by),
    ...manifest
  }
}

const newFlow = (outcome: Extract<AckOutcome, { readonly _tag: "FanOut" }>): FlowState => ({
  failFast: outcome.failFast,
  pending: outcome.children.length,
  completed: 0,
  failed: 0,
  cancelled: 0
})
