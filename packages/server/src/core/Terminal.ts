/**
 * How a job ends. Every terminal transition, by whatever path, goes through {@link terminate}, so each of them writes its
 * ledger entry, reports to a parent, frees its dedupe key, cancels what its flow still waits for, and lets retention in.
 */
import type { AttemptOutcome, TerminalState } from "@jobwire/protocol"
import type { Decision } from "./Decision.ts"
import { cancelPending } from "./Flow.ts"
import type { JobRow, JsonText, OutboxDraft } from "./JobRow.ts"
import { type AckedBy, nextEntry } from "./Ledger.ts"
import { keepCut } from "./Retention.ts"

/** How and why a job ended, as far as the terminal state does not say it. */
export interface End {
  readonly exit?: JsonText
  readonly failedReason?: string
  /** The ledger's word for the run; that of the state unless given. */
  readonly outcome?: AttemptOutcome
  readonly by?: AckedBy | undefined
}

/** The decision that ends a job. `row` carries what else the transition changes, like a spent attempt. */
export const terminate = (row: JobRow, state: TerminalState, now: number, end: End = {}): Decision => {
  const owesCancels = row.flow !== undefined && row.flow.pending > 0
  const after: JobRow = {
    ...row,
    state,
    cancelRequested: false,
    token: undefined,
    lockUntil: undefined,
    flow: row.flow === undefined ? undefined : cancelPending(row.flow),
    finishedAt: now,
    exit: end.exit,
    failedReason: end.failedReason,
    ledgerLength: row.ledgerLength + 1
  }
  const report = reportOf(after, state)
  const prune = keepCut(row, state, now)
  return {
    row: after,
    attempt: nextEntry(row, end.outcome ?? state, now, end.exit, end.by),
    freesDedupe: row.dedupeKey !== undefined,
    cancelsChildren: owesCancels,
    ...(report === undefined ? {} : { report }),
    ...(prune === undefined ? {} : { prune })
  }
}

const reportOf = (row: JobRow, outcome: TerminalState): OutboxDraft | undefined =>
  row.parent === undefined
    ? undefined
    : {
        flowName: row.parent.flowName,
        parentStoreKey: row.parent.parentStoreKey,
        report: {
          flowId: row.parent.flowId,
          childKey: row.parent.childKey,
          outcome,
          exit: row.exit,
          failedReason: row.failedReason
        }
      }
