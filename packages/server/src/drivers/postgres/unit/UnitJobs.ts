/** Jobs as units see them: by id, by line, by lease, and finished ones for retention. */
import type { TerminalState } from "@jobwire/protocol"
import type { JobRow } from "../../../core/JobRow.ts"
import type { HistoryTable, JobTable } from "../../embedded/Tables.ts"
import type { LaneNumbers } from "../LaneNumbers.ts"
import { EndedLoads } from "./EndedLoads.ts"
import { type JobCell, JobCells } from "./JobCells.ts"
import { JobLoads } from "./JobLoads.ts"
import { LineLoads } from "./LineLoads.ts"
import type { Load, Mode } from "./Load.ts"
import type { Numbers } from "./Numbers.ts"
import type { Run } from "./Run.ts"

const currentOf = ({ current }: JobCell): ReadonlyArray<JobRow> => (current === undefined ? [] : [current])

const runsBefore = (one: JobRow, other: JobRow): boolean =>
  one.priority > other.priority || (one.priority === other.priority && one.place < other.place)

const byDueTime = (one: JobRow, other: JobRow): number => one.runAt - other.runAt || one.place - other.place

/** See `JobTable` and `HistoryTable`. `deleteFlow` deletes the dependency rows of a parent. */
export class UnitJobs implements JobTable, HistoryTable {
  readonly cells: JobCells
  readonly #jobs: JobLoads
  readonly #lines: LineLoads
  readonly #ended: EndedLoads
  readonly #numbers: Numbers
  readonly #deleteFlow: (flowId: string) => void

  constructor(run: Run, mode: Mode, numbers: Numbers, lanes: LaneNumbers, deleteFlow: (flowId: string) => void) {
    this.cells = new JobCells(run)
    this.#jobs = new JobLoads(run, mode, this.cells, lanes)
    this.#lines = new LineLoads(run, this.cells, this.#jobs)
    this.#ended = new EndedLoads(run, this.cells, this.#jobs)
    this.#numbers = numbers
    this.#deleteFlow = deleteFlow
  }

  next(): number {
    return this.#numbers.next()
  }

  get(id: string): JobRow | undefined {
    return this.#jobs.find(id)?.current
  }

  insert(row: JobRow): void {
    this.cells.insert(row)
  }

  update(before: JobRow, after: JobRow): void {
    this.cells.write(this.#cell(before), after)
  }

  delete(row: JobRow): void {
    this.cells.delete(this.#cell(row))
    if (row.flow !== undefined) this.#deleteFlow(row.id)
  }

  /** Says that a dedupe key names this id. */
  keyed(id: string): void {
    this.#jobs.keyed(id)
  }

  /** Says that a job is wanted with its payload, metadata and exit. */
  lackValues(id: string): undefined {
    this.#jobs.lackValues(id)
  }

  firstWaiting(queue: string, names: ReadonlyArray<string>): JobRow | undefined {
    const wanted = new Set(names)
    let best: JobCell | undefined
    for (const cell of this.cells.inQueue("waiting", queue)) {
      const row = cell.current
      if (row === undefined || !wanted.has(row.name)) continue
      if (best?.current === undefined || runsBefore(row, best.current)) best = cell
    }
    if (!this.#lines.hasHead(queue, wanted, best?.current)) return undefined
    return best === undefined || best.hasValues ? best?.current : this.lackValues(best.id)
  }

  due(queue: string, now: number, limit: number): ReadonlyArray<JobRow> {
    const due = Array.from(this.cells.inQueue("delayed", queue))
      .flatMap(currentOf)
      .filter((row) => row.runAt <= now)
      .toSorted(byDueTime)
    if (due.length < limit) this.#lines.hasDue(queue, now, limit - due.length)
    return due.slice(0, limit)
  }

  nextRunAt(queue: string, names: ReadonlyArray<string>): number | undefined {
    let next = this.#lines.earliest(queue, names)
    for (const { current } of this.cells.inQueue("delayed", queue)) {
      if (current !== undefined && names.includes(current.name)) next = Math.min(next, current.runAt)
    }
    return next === Infinity ? undefined : next
  }

  heldBy(queue: string, token: string): JobRow | undefined {
    this.#jobs.hasToken(token)
    for (const { current } of this.cells.active()) {
      if (current?.token === token && current.queue === queue) return current
    }
    return undefined
  }

  stalled(now: number): ReadonlyArray<JobRow> {
    this.#jobs.hasStalled(now)
    return Array.from(this.cells.active())
      .flatMap(currentOf)
      .filter(({ lockUntil }) => lockUntil !== undefined && lockUntil <= now)
      .toSorted((one, other) => one.seq - other.seq)
  }

  scan(): never {
    throw new Error("jobs of a PostgreSQL store are listed by statements of their own")
  }

  counts(): never {
    throw new Error("jobs of a PostgreSQL store are counted by a statement of its own")
  }

  beyond(name: string, state: TerminalState, count: number): ReadonlyArray<JobRow> {
    return this.#ended.beyond(name, state, count)
  }

  until(name: string, state: TerminalState, moment: number): ReadonlyArray<JobRow> {
    return this.#ended.until(name, state, moment)
  }

  loads(): ReadonlyArray<Load> {
    return [...this.#jobs.loads(), ...this.#lines.loads(), ...this.#ended.loads()]
  }

  #cell(row: JobRow): JobCell {
    const cell = this.cells.find(row.id)
    if (cell === undefined) throw new Error(`job ${JSON.stringify(row.id)} is not there`)
    return cell
  }
}
