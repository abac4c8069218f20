/** What becomes of a job whose lease has run out. */
import type { RecoveredJob } from "@jobwire/protocol"
import type { Decision } from "./Decision.ts"
import type { JobRow } from "./JobRow.ts"
import { nextEntry } from "./Ledger.ts"
import { terminate } from "./Terminal.ts"

const exhausted = "job stalled more than allowable limit"

/** The decision for one stalled job, and what is reported of it; a job that was to be cancelled is not reported. */
export const recover = (
  row: JobRow,
  maxStalledCount: number,
  now: number
): { readonly decision: Decision; readonly report: RecoveredJob | undefined } => {
  if (row.cancelRequested) return { decision: terminate(row, "cancelled", now), report: undefined }
  const stalled: JobRow = { ...row, stalledCount: row.stalledCount + 1 }
  return stalled.stalledCount > maxStalledCount
    ? {
        decision: terminate(stalled, "failed", now, { outcome: "stalled", failedReason: exhausted }),
        report: { id: row.id, failed: true }
      }
    : { decision: backInLine(stalled, now), report: { id: row.id, failed: false } }
}

const backInLine = (row: JobRow, now: number): Decision => ({
  row: { ...row, state: "waiting", token: undefined, lockUntil: undefined, ledgerLength: row.ledgerLength + 1 },
  wakes: true,
  attempt: nextEntry(row, "stalled", now)
})
