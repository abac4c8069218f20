/** Ledger entries as they are looked at: those of `attempt a`, and the one that finished a job, in `done d`. */
import type { AttemptRow } from "../../../core/JobRow.ts"
import { acks, outcomes } from "../../columns/Codes.ts"
import type { Row } from "../Connections.ts"

/** An earlier entry, for {@link decodeAttempt}. */
export const attemptColumns = "a.attempt, a.started_at, a.finished_at, a.outcome, a.acked, a.token, a.exit::text"

/** The last entry of a finished job, for {@link decodeAttempt}. */
export const endColumns = "d.ledger_length, d.processed_at, d.finished_at, d.outcome, d.acked, d.token, d.exit::text"

// What the columns are is said by the SQL above.
type AttemptTuple = readonly [
  attempt: number,
  startedAt: number | null,
  finishedAt: number,
  outcome: number,
  acked: number | null,
  token: string | null,
  exit: string | null
]

/** The entry in a row. */
export const decodeAttempt = (row: Row): AttemptRow => {
  const [attempt, startedAt, finishedAt, outcome, acked, token, exit] = row as unknown as AttemptTuple
  return {
    attempt,
    startedAt: startedAt ?? undefined,
    finishedAt,
    outcome: outcomes.word(outcome),
    acked: acked === null ? undefined : acks.word(acked),
    token: token ?? undefined,
    exit: exit ?? undefined
  }
}
