/** The flow of a parent: its counters, and the rows of its children. */
import type { FlowChildSpec, FlowState, TerminalState } from "@jobwire/protocol"
import type { ChildRow, JobRow } from "./JobRow.ts"

/** The counters after one pending child ended so. */
export const count = (flow: FlowState, outcome: TerminalState): FlowState => ({
  ...flow,
  pending: flow.pending - 1,
  [outcome]: flow[outcome] + 1
})

/** The counters after every pending child was cancelled. */
export const cancelPending = (flow: FlowState): FlowState =>
  flow.pending === 0 ? flow : { ...flow, pending: 0, cancelled: flow.cancelled + flow.pending }

/** A parent that can run again, from now on and at the back of the line. */
export const resume = (row: JobRow, now: number): JobRow => ({ ...row, state: "waiting", runAt: now })

/** The manifest of a fan-out: a pending row for each child. */
export const childRows = (
  flowId: string,
  children: ReadonlyArray<FlowChildSpec>,
  now: number
): ReadonlyArray<ChildRow> =>
  children.map((child) => ({
    flowId,
    childKey: child.childKey,
    storeKey: child.storeKey,
    name: child.request.name,
    // Validation refuses a child without an id before the call gets here.
    childJobId: child.request.id as string,
    request: JSON.stringify(child.request),
    status: "pending",
    exit: undefined,
    failedReason: undefined,
    cascaded: false,
    pendingSince: now
  }))

/** The row of a pending child that was cancelled with its flow, which the child's own store does not know yet. */
export const cancelChild = (child: ChildRow): ChildRow => ({ ...child, status: "cancelled", cascaded: false })

/** The row of a child whose store knows its end now. */
export const cascadeChild = (child: ChildRow): ChildRow => ({ ...child, cascaded: true })

/** The row of a child that was handed out to be looked after: its age starts again. */
export const rearmChild = (child: ChildRow, now: number): ChildRow => ({ ...child, pendingSince: now })
