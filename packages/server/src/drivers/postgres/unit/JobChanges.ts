/** What units have done to jobs, sorted by the rows that it changes. */
import { isTerminal } from "@jobwire/protocol"
import type { AttemptRow, JobRow } from "../../../core/JobRow.ts"
import { addTo, noCounts, type StateCounts } from "../../embedded/StateCounts.ts"
import { isProducerChanged } from "../JobColumns.ts"
import type { LaneKey } from "../LaneNumbers.ts"
import type { JobCell } from "./JobCells.ts"

/** A job that goes to `live`, and the place that it had before, if it was there. */
export interface ToLive {
  readonly job: JobRow
  readonly placeBefore: number | undefined
}

/** A job that goes to `done`, and the ledger entry that finished it. */
export interface ToDone {
  readonly job: JobRow
  readonly end: AttemptRow
}

/** A ledger entry for `attempt`. */
export interface Entry {
  readonly seq: number
  readonly entry: AttemptRow
}

/** By how many jobs a lane has grown, by state. */
export interface CountChange {
  readonly lane: LaneKey
  readonly counts: StateCounts
}

/** See the file. Jobs that leave a table are given by `seq`. */
export interface JobChanges {
  /** As the database has them. */
  readonly deleted: ReadonlyArray<JobRow>
  readonly inserted: ReadonlyArray<JobRow>
  readonly rewritten: ReadonlyArray<JobRow>
  readonly toLive: ReadonlyArray<ToLive>
  readonly withinLive: ReadonlyArray<ToLive>
  readonly fromLive: ReadonlyArray<number>
  readonly toDone: ReadonlyArray<ToDone>
  /** Their last ledger entries stay. */
  readonly fromDone: ReadonlyArray<number>
  readonly entries: ReadonlyArray<Entry>
  /** Jobs that lose a token which another job of their queue gets. */
  readonly freed: ReadonlyArray<number>
  /** Every lane that a job of these changes is or was in. */
  readonly counts: ReadonlyArray<CountChange>
}

/** The changes in these jobs. */
export const changesOf = (cells: Iterable<JobCell>): JobChanges => {
  const sorter = new Sorter()
  for (const cell of cells) if (cell.current !== cell.stored) sorter.add(cell)
  return sorter.changes()
}

class Sorter {
  readonly #deleted: Array<JobRow> = []
  readonly #inserted: Array<JobRow> = []
  readonly #rewritten: Array<JobRow> = []
  readonly #toLive: Array<ToLive> = []
  readonly #withinLive: Array<ToLive> = []
  readonly #fromLive: Array<number> = []
  readonly #toDone: Array<ToDone> = []
  readonly #fromDone: Array<number> = []
  readonly #entries: Array<Entry> = []
  /** Jobs that lose a token, and tokens that a job gets, by token and queue. */
  readonly #lost = new Map<string, number>()
  readonly #got = new Set<string>()
  readonly #counts = new Map<string, CountChange>()

  add({ current, entries, stored }: JobCell): void {
    if (stored !== undefined) this.#count(stored, -1)
    if (current !== undefined) this.#count(current, 1)
    this.#hold(stored, current)
    // An id that was given again is another job.
    const before = current !== undefined && stored?.seq === current.seq ? stored : undefined
    if (stored !== undefined && before === undefined) this.#deleted.push(stored)
    if (current === undefined) return
    if (before === undefined) this.#inserted.push(current)
    else if (isProducerChanged(before, current)) this.#rewritten.push(current)
    const ledger = [...entries]
    const end = isTerminal(current.state) ? ledger.pop() : undefined
    for (const entry of ledger) this.#entries.push({ seq: current.seq, entry })
    this.#move(before, current, end)
  }

  changes(): JobChanges {
    return {
      deleted: this.#deleted,
      inserted: this.#inserted,
      rewritten: this.#rewritten,
      toLive: this.#toLive,
      withinLive: this.#withinLive,
      fromLive: this.#fromLive,
      toDone: this.#toDone,
      fromDone: this.#fromDone,
      entries: this.#entries,
      freed: Array.from(this.#lost).flatMap(([hold, seq]) => (this.#got.has(hold) ? [seq] : [])),
      counts: Array.from(this.#counts.values())
    }
  }

  #move(before: JobRow | undefined, job: JobRow, end: AttemptRow | undefined): void {
    const wasDone = before !== undefined && isTerminal(before.state)
    const wasLive = before !== undefined && !wasDone
    const live: ToLive = { job, placeBefore: before?.place }
    if (wasDone) this.#fromDone.push(job.seq)
    if (end !== undefined) {
      if (wasLive) this.#fromLive.push(job.seq)
      this.#toDone.push({ job, end })
    } else if (wasLive) {
      this.#withinLive.push(live)
    } else {
      this.#toLive.push(live)
    }
  }

  #hold(stored: JobRow | undefined, current: JobRow | undefined): void {
    const before = stored === undefined ? undefined : holdOf(stored)
    const after = current === undefined ? undefined : holdOf(current)
    if (stored?.seq === current?.seq && before === after) return
    if (stored !== undefined && before !== undefined) this.#lost.set(before, stored.seq)
    if (after !== undefined) this.#got.add(after)
  }

  #count({ name, priority, queue, state }: JobRow, by: 1 | -1): void {
    const text = JSON.stringify([queue, name, priority])
    const change = this.#counts.get(text) ?? { lane: { queue, name, priority }, counts: noCounts() }
    addTo(change.counts, state, by)
    this.#counts.set(text, change)
  }
}

const holdOf = ({ queue, token }: JobRow): string | undefined =>
  token === undefined ? undefined : JSON.stringify([token, queue])
