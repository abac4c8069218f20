/**
 * The primitives of an embedded store: find rows, write rows. All are synchronous, belong to one store, and decide
 * nothing: rules live in `core/`, their sequence in the operations beside this file. Inside one transaction every read
 * sees the writes before it.
 */
import type {
  FlowChildStatus,
  JobCounts,
  JobState,
  ScheduleFilter,
  ScheduleRecord,
  TerminalState
} from "@jobwire/protocol"
import type { AttemptRow, ChildRow, DedupeRow, JobRow, OutboxDraft, OutboxRow } from "../../core/JobRow.ts"
import type { ReceiptRow } from "../../core/Receipt.ts"

/** Jobs by id, by line, by lease. */
export interface JobTable {
  /** The next number for `seq` and `place`: greater than all before, also across restarts. */
  readonly next: () => number
  readonly get: (id: string) => JobRow | undefined
  readonly insert: (row: JobRow) => void
  /** Writes a row whose `seq` and `id` are those of `before`, which is what the store holds now. */
  readonly update: (before: JobRow, after: JobRow) => void
  /** Deletes the job, its ledger and its dependency rows. */
  readonly delete: (row: JobRow) => void
  /** The waiting job of the queue with one of the names that runs first. */
  readonly firstWaiting: (queue: string, names: ReadonlyArray<string>) => JobRow | undefined
  /** Delayed jobs of the queue with `runAt <= now`, at most `limit` of them. */
  readonly due: (queue: string, now: number, limit: number) => ReadonlyArray<JobRow>
  /** The earliest `runAt` of the queue's delayed jobs with one of the names. */
  readonly nextRunAt: (queue: string, names: ReadonlyArray<string>) => number | undefined
  /** The active job of the queue that this token holds. */
  readonly heldBy: (queue: string, token: string) => JobRow | undefined
  /** Active jobs whose `lockUntil <= now`, by `seq`. */
  readonly stalled: (now: number) => ReadonlyArray<JobRow>
  /** Jobs that match, in the order, from behind the position; a lazy walk, so that a page reads little more than itself. */
  readonly scan: (query: JobQuery) => Iterable<JobRow>
  /** Maintained, never counted by a scan. */
  readonly counts: (queue: string | undefined) => JobCounts
}

/** A resolved `list` request. */
export interface JobQuery {
  readonly queue: string | undefined
  readonly name: string | undefined
  readonly states: ReadonlyArray<JobState> | undefined
  readonly metadata: Readonly<Record<string, string>> | undefined
  readonly orderBy: "enqueuedAt" | "runAt" | "finishedAt"
  readonly order: "asc" | "desc"
  /** The order's value (0 where a row has none) and the id of the last row before this page. */
  readonly after: { readonly value: number; readonly id: string } | undefined
}

/** Finished jobs, for retention. */
export interface HistoryTable {
  /** Finished jobs of a name and state beyond the newest `count` (by `finishedAt`, then `place`). */
  readonly beyond: (name: string, state: TerminalState, count: number) => ReadonlyArray<JobRow>
  /** Finished jobs of a name and state with `finishedAt <= moment`. */
  readonly until: (name: string, state: TerminalState, moment: number) => ReadonlyArray<JobRow>
}

/** Ledger entries by the job's `seq`. */
export interface AttemptTable {
  readonly append: (job: JobRow, attempt: AttemptRow) => void
  /** Oldest first. */
  readonly list: (job: JobRow) => ReadonlyArray<AttemptRow>
  /** The latest entry that an ack by this token wrote. */
  readonly byToken: (job: JobRow, token: string) => AttemptRow | undefined
}

/** Dedupe keys by name and key. */
export interface DedupeTable {
  readonly get: (name: string, key: string) => DedupeRow | undefined
  readonly put: (row: DedupeRow) => void
  readonly delete: (name: string, key: string) => void
  readonly all: () => Iterable<DedupeRow>
}

/** Queues that are paused. */
export interface PauseTable {
  readonly has: (queue: string) => boolean
  /** Answers whether anything changed. */
  readonly add: (queue: string) => boolean
  readonly delete: (queue: string) => boolean
  readonly list: () => ReadonlyArray<string>
}

/** Schedules by key. The payload in a record is the parsed value. */
export interface ScheduleTable {
  readonly get: (key: string) => ScheduleRecord | undefined
  readonly put: (schedule: ScheduleRecord) => void
  readonly delete: (key: string) => boolean
  /** By key. */
  readonly list: (filter: ScheduleFilter) => ReadonlyArray<ScheduleRecord>
  /** `nextRunAt <= now`, earliest first, then by key. */
  readonly due: (now: number) => ReadonlyArray<ScheduleRecord>
}

/** Dependency rows by flow and child key. */
export interface ChildTable {
  readonly get: (flowId: string, childKey: string) => ChildRow | undefined
  readonly insert: (rows: ReadonlyArray<ChildRow>) => void
  readonly update: (before: ChildRow, after: ChildRow) => void
  /** Rows of a flow by child key in code-point order, from behind `after`; a lazy walk. */
  readonly list: (flowId: string, after: string | undefined) => Iterable<ChildRow>
  /** Rows of a flow with this status. */
  readonly withStatus: (flowId: string, status: FlowChildStatus) => ReadonlyArray<ChildRow>
  /** Pending rows with `pendingSince <= moment` whose parent is `waiting-children`, longest pending first; a lazy walk. */
  readonly pendingSince: (moment: number) => Iterable<ChildRow>
  /** Rows that are cancelled and not cascaded, by flow and key; a lazy walk. */
  readonly owedCascade: () => Iterable<ChildRow>
  /** Whether a flow has a row that is cancelled and not cascaded. */
  readonly owesCascade: (flowId: string) => boolean
}

/** Reports that wait for delivery. */
export interface OutboxTable {
  readonly append: (draft: OutboxDraft) => void
  /** From behind `seq`, oldest first; a lazy walk. */
  readonly list: (afterSeq: number) => Iterable<OutboxRow>
  readonly delete: (seqs: ReadonlyArray<number>) => void
}

/** Receipts by key; see core/Receipt.ts. */
export interface ReceiptTable {
  readonly get: (key: string) => ReceiptRow | undefined
  readonly put: (row: ReceiptRow) => void
  readonly delete: (key: string) => void
  /** The keys of some that hold no more, at most `limit`. */
  readonly expired: (now: number, limit: number) => ReadonlyArray<string>
}

/** All tables of one store. */
export interface Tables {
  readonly jobs: JobTable
  readonly history: HistoryTable
  readonly attempts: AttemptTable
  readonly dedupes: DedupeTable
  readonly pauses: PauseTable
  readonly schedules: ScheduleTable
  readonly children: ChildTable
  readonly outbox: OutboxTable
  readonly receipts: ReceiptTable
  /** What the unit sees at least, where the database has such: see Wake.ts. */
  readonly snapshot?: string
}

/**
 * Runs a unit of work atomically: all its writes are kept when the effect succeeds, none when it fails, and nobody sees
 * some of them. Units of concurrent callers may share one commit. A fault of the storage is a `JobStoreError`.
 */
export interface Work<A> {
  (tables: Tables): A
}
