/** How the ends of children reach their parent: first every row, then each parent at most once. */
import type { FlowChildReport } from "@jobwire/protocol"
import type { Decision } from "./Decision.ts"
import { resume } from "./Flow.ts"
import type { ChildRow, JobRow } from "./JobRow.ts"
import { toText } from "./JsonText.ts"
import { terminate } from "./Terminal.ts"

/** The child's row after its report, or `undefined` when the report does not apply: late, repeated or unknown. */
export const applyReport = (child: ChildRow | undefined, report: FlowChildReport): ChildRow | undefined =>
  child === undefined || child.status !== "pending"
    ? undefined
    : {
        ...child,
        status: report.outcome,
        exit: toText(report.exit),
        failedReason: report.failedReason,
        cascaded: true
      }

/**
 * What a batch of applied reports does to their parent, whose `row` has the counters after them. `firstFailed` is the
 * first applied report of a failed child. A fail-fast failure wins over the last child's end. Answers `undefined` when the
 * parent does not settle.
 */
export const settleParent = (
  row: JobRow,
  firstFailed: FlowChildReport | undefined,
  now: number
): { readonly decision: Decision; readonly by: "failure" | "last" } | undefined => {
  if (row.state !== "waiting-children" || row.flow === undefined) return undefined
  if (row.flow.failFast && firstFailed !== undefined) {
    const failedReason = `jobwire: flow child "${firstFailed.childKey}" failed`
    return { decision: terminate(row, "failed", now, { failedReason }), by: "failure" }
  }
  return row.flow.pending === 0
    ? { decision: { row: resume(row, now), toBack: true, wakes: true }, by: "last" }
    : undefined
}
