/**
 * What a transition does, as data. The core decides; a driver writes all of it in one atomic step.
 */
import type { KeepCut } from "./Retention.ts"
import type { AttemptRow, ChildRow, JobRow, OutboxDraft } from "./JobRow.ts"

/** Everything that one transition of one job writes. */
export interface Decision {
  /** The job afterwards. */
  readonly row: JobRow
  /** The job goes to the back of the line: the driver gives it a new `place`. */
  readonly toBack?: boolean
  /** A ledger entry to append. */
  readonly attempt?: AttemptRow
  /** A report for the outbox; present on a terminal transition of a job with a parent, and only then. */
  readonly report?: OutboxDraft
  /** The job became terminal: a dedupe key that it holds without a live window is free. */
  readonly freesDedupe?: boolean
  /** Finished jobs of the same name and state that this transition makes too many or too old. */
  readonly prune?: KeepCut
  /** Dependency rows to insert. */
  readonly children?: ReadonlyArray<ChildRow>
  /** The pending dependency rows of this job become cancelled and not cascaded. */
  readonly cancelsChildren?: boolean
  /** The job can be claimed now, or soon: wake a taker of its queue. */
  readonly wakes?: boolean
}
