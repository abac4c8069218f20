/** How a run ends by the word of the worker that holds the job. */
import type { AckOutcome } from "@jobwire/protocol"
import type { Decision } from "./Decision.ts"
import { fanOut } from "./FanOut.ts"
import type { JobRow } from "./JobRow.ts"
import { toText } from "./JsonText.ts"
import { type AckedBy, nextEntry } from "./Ledger.ts"
import { terminate } from "./Terminal.ts"
import { wholeMs } from "./Time.ts"

/**
 * The decision of an ack by the token that holds the job. Complete and Fail win over a pending cancel, Retry and FanOut
 * give way to it.
 */
export const acknowledge = (row: JobRow, token: string, outcome: AckOutcome, now: number): Decision => {
  const by: AckedBy = { token, outcome: outcome._tag }
  // A fan-out is a phase, not a completed run: the attempts span both phases.
  if (outcome._tag === "FanOut") return fanOut(row, outcome, by, now)
  const spent: JobRow = { ...row, attemptsMade: row.attemptsMade + 1 }
  switch (outcome._tag) {
    case "Complete":
      return terminate(spent, "completed", now, { exit: toText(outcome.exit), by })
    case "Fail":
      return terminate(spent, "failed", now, { exit: toText(outcome.exit), by })
    case "Cancelled":
      return terminate(spent, "cancelled", now, { by })
    case "Retry":
      return row.cancelRequested
        ? terminate(spent, "cancelled", now, { by })
        : runAgain(spent, outcome.delayMs, outcome.exit, by, now)
  }
}

const runAgain = (row: JobRow, delayMs: number, exit: unknown, by: AckedBy, now: number): Decision => {
  const delay = wholeMs(delayMs)
  return {
    row: {
      ...row,
      state: delay > 0 ? "delayed" : "waiting",
      runAt: now + delay,
      token: undefined,
      lockUntil: undefined,
      ledgerLength: row.ledgerLength + 1
    },
    toBack: true,
    wakes: true,
    attempt: nextEntry(row, "retried", now, toText(exit), by)
  }
}
