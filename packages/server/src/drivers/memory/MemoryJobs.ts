/** Jobs, their ledgers and their history, in memory. */
import { isTerminal, type JobCounts, type TerminalState } from "@jobwire/protocol"
import type { AttemptRow, JobRow } from "../../core/JobRow.ts"
import type { AttemptTable, HistoryTable, JobQuery, JobTable } from "../embedded/Tables.ts"
import { JobLists } from "./JobLists.ts"
import { byEnd, type JobIndex, type JobSlot, type MakeIndex } from "./JobSlot.ts"
import { Lanes } from "./Lanes.ts"
import { QueueJobs } from "./QueueJobs.ts"
import { addTo, noCounts } from "../embedded/StateCounts.ts"

const rowOf = (slot: JobSlot): JobRow => slot.row

const endLane = (name: string, state: string): string => `${state} ${name}`

/** The tables about jobs, which share their slots. */
export class MemoryJobs implements JobTable, AttemptTable, HistoryTable {
  readonly #slots = new Map<string, JobSlot>()
  readonly #queues = new Map<string, QueueJobs>()
  readonly #active = new Set<JobSlot>()
  readonly #counts = noCounts()
  readonly #ended: Lanes<JobSlot>
  readonly #lists: JobLists
  readonly #makeIndex: MakeIndex
  readonly #onDelete: (row: JobRow) => void
  #last = 0

  constructor(makeIndex: MakeIndex, onDelete: (row: JobRow) => void) {
    this.#makeIndex = makeIndex
    this.#onDelete = onDelete
    this.#ended = new Lanes(makeIndex, byEnd)
    this.#lists = new JobLists(makeIndex)
  }

  next(): number {
    return ++this.#last
  }

  get(id: string): JobRow | undefined {
    return this.#slots.get(id)?.row
  }

  insert(row: JobRow): void {
    if (this.#slots.has(row.id)) throw new Error(`job ${JSON.stringify(row.id)} is there already`)
    const slot: JobSlot = { row, attempts: [] }
    this.#slots.set(row.id, slot)
    this.#lists.add(slot)
    this.#enter(slot)
  }

  update(before: JobRow, after: JobRow): void {
    const slot = this.#slot(before)
    this.#leave(slot)
    this.#lists.write(slot, after)
    this.#enter(slot)
  }

  delete(row: JobRow): void {
    const slot = this.#slot(row)
    this.#leave(slot)
    this.#lists.delete(slot)
    this.#slots.delete(row.id)
    this.#onDelete(row)
  }

  firstWaiting(queue: string, names: ReadonlyArray<string>): JobRow | undefined {
    return this.#queues.get(queue)?.firstWaiting(names)?.row
  }

  due(queue: string, now: number, limit: number): ReadonlyArray<JobRow> {
    return this.#queues.get(queue)?.due(now, limit).map(rowOf) ?? []
  }

  nextRunAt(queue: string, names: ReadonlyArray<string>): number | undefined {
    return this.#queues.get(queue)?.firstDelayed(names)?.row.runAt
  }

  heldBy(queue: string, token: string): JobRow | undefined {
    return this.#queues.get(queue)?.heldBy(token)?.row
  }

  stalled(now: number): ReadonlyArray<JobRow> {
    return Array.from(this.#active, rowOf)
      .filter(({ lockUntil }) => lockUntil !== undefined && lockUntil <= now)
      .toSorted((one, other) => one.seq - other.seq)
  }

  scan(query: JobQuery): Iterable<JobRow> {
    return this.#lists.scan(query)
  }

  counts(queue: string | undefined): JobCounts {
    return { ...(queue === undefined ? this.#counts : (this.#queues.get(queue)?.counts ?? noCounts())) }
  }

  append(job: JobRow, attempt: AttemptRow): void {
    this.#slot(job).attempts.push(attempt)
  }

  list(job: JobRow): ReadonlyArray<AttemptRow> {
    return this.#slot(job).attempts
  }

  byToken(job: JobRow, token: string): AttemptRow | undefined {
    return this.#slot(job).attempts.findLast((attempt) => attempt.token === token)
  }

  beyond(name: string, state: TerminalState, count: number): ReadonlyArray<JobRow> {
    const lane = this.#ended.get(endLane(name, state))
    return lane === undefined || lane.size <= count ? [] : head(lane, lane.size - count)
  }

  until(name: string, state: TerminalState, moment: number): ReadonlyArray<JobRow> {
    const rows: Array<JobRow> = []
    for (const { row } of this.#ended.get(endLane(name, state))?.ascending() ?? []) {
      if ((row.finishedAt ?? 0) > moment) break
      rows.push(row)
    }
    return rows
  }

  #slot(row: JobRow): JobSlot {
    const slot = this.#slots.get(row.id)
    if (slot === undefined) throw new Error(`job ${JSON.stringify(row.id)} is not there`)
    return slot
  }

  #enter(slot: JobSlot): void {
    const { name, queue, state } = slot.row
    let jobs = this.#queues.get(queue)
    if (jobs === undefined) {
      jobs = new QueueJobs(this.#makeIndex)
      this.#queues.set(queue, jobs)
    }
    jobs.add(slot)
    addTo(this.#counts, state, 1)
    if (state === "active") this.#active.add(slot)
    else if (isTerminal(state)) this.#ended.add(endLane(name, state), slot)
  }

  #leave(slot: JobSlot): void {
    const { name, queue, state } = slot.row
    const jobs = this.#queues.get(queue)
    jobs?.delete(slot)
    if (jobs?.isEmpty === true) this.#queues.delete(queue)
    addTo(this.#counts, state, -1)
    if (state === "active") this.#active.delete(slot)
    else if (isTerminal(state)) this.#ended.delete(endLane(name, state), slot)
  }
}

const head = (lane: JobIndex, length: number): ReadonlyArray<JobRow> => {
  const rows: Array<JobRow> = []
  for (const { row } of lane.ascending()) {
    if (rows.length >= length) break
    rows.push(row)
  }
  return rows
}
