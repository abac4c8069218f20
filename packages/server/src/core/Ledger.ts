/** The attempts ledger: one entry a run, numbered from 1 without gaps, never reset. */
import type { AckOutcome, AttemptOutcome } from "@jobwire/protocol"
import type { AttemptRow, JobRow, JsonText } from "./JobRow.ts"
import { isSame } from "./JsonText.ts"

/** The ack that ended a run; an end that came without one has none. */
export interface AckedBy {
  readonly token: string
  readonly outcome: AckOutcome["_tag"]
}

/** The next entry of a job's ledger. */
export const nextEntry = (
  row: JobRow,
  outcome: AttemptOutcome,
  now: number,
  exit?: JsonText,
  by?: AckedBy
): AttemptRow => ({
  attempt: row.ledgerLength + 1,
  startedAt: row.processedAt,
  finishedAt: now,
  outcome,
  exit,
  token: by?.token,
  acked: by?.outcome
})

/**
 * Whether an ack is a repeat of the one that wrote this entry: the same outcome, and the same exit where the entry has
 * kept it (a Retry that gave way to a cancel has not).
 */
export const isRepeat = (entry: AttemptRow, outcome: AckOutcome, exit: JsonText): boolean =>
  entry.acked === outcome._tag &&
  (outcome._tag === "FanOut" || entry.outcome === "cancelled" || isSame(entry.exit, exit))
