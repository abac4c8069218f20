/**
 * A job as the core and the drivers hold it: the record, and beside it what only the store knows. Values that the store
 * never looks into are JSON text, so keeping, comparing and measuring them is keeping, comparing and measuring strings.
 */
import type { AttemptRecord, FlowChildStatus, JobRecord, OutboxEntry } from "@jobwire/protocol"

/** The JSON text of a value; `undefined` when the value is absent. `"null"` is a value. */
export type JsonText = string | undefined

/** One job. Immutable: a transition makes another row. */
export interface JobRow extends Omit<JobRecord, "payload" | "exit"> {
  /** Unique in the store and growing with insertion. */
  readonly seq: number
  /** Place in line: among jobs of one priority the lowest runs first. Ties of retention go by it too. */
  readonly place: number
  readonly payload: JsonText
  readonly exit: JsonText
  /** The token that holds the job; present exactly when it is active. */
  readonly token: string | undefined
  /** When the lease ends, in epoch milliseconds; present exactly when the job is active. */
  readonly lockUntil: number | undefined
  /** How many ledger entries the job has. */
  readonly ledgerLength: number
  /** By what the enqueue under a call's key is known again, see `memoOf`; absent when it had none. */
  readonly call: string | undefined
}

/** One ledger entry. `token` and `acked` remember the ack that wrote it, so that the same ack again is known. */
export interface AttemptRow extends Omit<AttemptRecord, "exit"> {
  readonly exit: JsonText
  /** The token of the run; absent for an end that came without an ack. */
  readonly token: string | undefined
  /** The tag of the outcome the worker sent, which a pending cancel may have turned into another. */
  readonly acked: "Complete" | "Fail" | "Retry" | "Cancelled" | "FanOut" | undefined
}

/** A dependency row: one child of a flow parent, in the parent's store. */
export interface ChildRow {
  readonly flowId: string
  readonly childKey: string
  readonly storeKey: string
  readonly name: string
  readonly childJobId: string
  /** The JSON text of the complete enqueue request. */
  readonly request: string
  readonly status: FlowChildStatus
  readonly exit: JsonText
  readonly failedReason: string | undefined
  readonly cascaded: boolean
  /** Since when the row has been pending, or was last returned for reconciliation; epoch milliseconds. */
  readonly pendingSince: number
}

/** An outbox entry before the store has numbered it. */
export interface OutboxDraft extends Omit<OutboxEntry, "id" | "report"> {
  readonly report: Omit<OutboxEntry["report"], "exit"> & { readonly exit: JsonText }
}

/** An outbox entry; entries are delivered in the order of `seq`. */
export interface OutboxRow extends OutboxDraft {
  readonly seq: number
}

/** Who holds a dedupe key. Without `expiresAt` the key is held while its job is not terminal. */
export interface DedupeRow {
  readonly name: string
  readonly key: string
  readonly jobId: string
  readonly expiresAt: number | undefined
}
