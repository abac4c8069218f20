/** Jobs as far as they are loaded, and as units have left them. */
import type { TerminalState } from "@jobwire/protocol"
import type { AttemptRow, JobRow } from "../../../core/JobRow.ts"
import type { Row } from "../Connections.ts"
import { decodeEnd, decodeJob } from "../JobColumns.ts"
import type { Run } from "./Run.ts"

/** A job as the database has it and as units have left it. */
export interface JobCell {
  readonly id: string
  stored: JobRow | undefined
  /** The ledger entry in its row of `done`. */
  storedEnd: AttemptRow | undefined
  /** Whether payload, metadata and exit were loaded too; they are absent otherwise. */
  hasValues: boolean
  /** Whether nobody else changes the job meanwhile; what was loaded without a lock is looked at only. */
  isLocked: boolean
  current: JobRow | undefined
  /** Ledger entries that units have appended. */
  entries: ReadonlyArray<AttemptRow>
}

const none: ReadonlySet<JobCell> = new Set()

// Each job is in one group: those that one question is about lie together.
const groupOf = ({ name, queue, state }: Pick<JobRow, "name" | "queue" | "state">): string => {
  switch (state) {
    case "waiting":
    case "delayed":
      return `${state} ${queue}`
    case "active":
    case "waiting-children":
      return state
    default:
      return `${state} ${name}`
  }
}

/** See the file. */
export class JobCells {
  readonly #run: Run
  readonly #cells = new Map<string, JobCell>()
  readonly #groups = new Map<string, Set<JobCell>>()
  readonly #seqs = new Set<number>()
  readonly #unlocked = new Set<string>()
  /** Those that the database has as finished. */
  readonly storedEnded = new Set<JobCell>()

  constructor(run: Run) {
    this.#run = run
  }

  /** How many jobs are loaded or made. */
  get size(): number {
    return this.#cells.size
  }

  find(id: string): JobCell | undefined {
    return this.#cells.get(id)
  }

  /** Whether the job that the database has under this number is loaded. */
  hasSeq(seq: number): boolean {
    return this.#seqs.has(seq)
  }

  all(): Iterable<JobCell> {
    return this.#cells.values()
  }

  /** The jobs of a queue that are waiting or delayed. */
  inQueue(state: "waiting" | "delayed", queue: string): ReadonlySet<JobCell> {
    return this.#groups.get(groupOf({ state, queue, name: "" })) ?? none
  }

  active(): ReadonlySet<JobCell> {
    return this.#groups.get("active") ?? none
  }

  /** The finished jobs of a name. */
  ended(name: string, state: TerminalState): ReadonlySet<JobCell> {
    return this.#groups.get(groupOf({ state, queue: "", name })) ?? none
  }

  insert(row: JobRow): void {
    const found = this.#cells.get(row.id)
    const cell = found ?? newCell(row.id)
    const { hasValues } = cell
    this.#cells.set(row.id, cell)
    this.#run.made(row.payload?.length ?? 0)
    this.write(cell, row)
    cell.hasValues = true
    this.#run.changed(() => {
      cell.hasValues = hasValues
      if (found === undefined) this.#cells.delete(row.id)
    })
  }

  /** Gives the job another row. */
  write(cell: JobCell, row: JobRow): void {
    this.#lock(cell)
    const before = cell.current
    this.#place(cell, row)
    this.#run.changed(() => this.#place(cell, before))
  }

  /** Takes the job away, with its ledger: what gets its id later is another job. */
  delete(cell: JobCell): void {
    this.#lock(cell)
    const { current, entries } = cell
    this.#place(cell, undefined)
    cell.entries = []
    this.#run.changed(() => {
      this.#place(cell, current)
      cell.entries = entries
    })
  }

  /** Appends a ledger entry. */
  append(cell: JobCell, entry: AttemptRow): void {
    const before = cell.entries
    cell.entries = [...before, entry]
    this.#run.changed(() => {
      cell.entries = before
    })
  }

  /** The ids of jobs that units have changed and that are not locked; asked once, they are no longer told. */
  takeUnlocked(): ReadonlyArray<string> {
    const ids = Array.from(this.#unlocked)
    this.#unlocked.clear()
    return ids
  }

  /** Says that the database has no job with this id. */
  receiveAbsent(id: string): void {
    if (!this.#cells.has(id)) this.#cells.set(id, newCell(id))
  }

  /**
   * Says what the database has, in the columns of a job. What units have written over it stays; before the lock they have written
   * nothing.
   */
  receive(row: Row, hasValues: boolean, isLocked: boolean): JobCell {
    const job = decodeJob(row)
    const end = decodeEnd(row)
    this.#run.loaded((job.payload?.length ?? 0) + (job.exit?.length ?? 0))
    const cell = this.#cells.get(job.id) ?? newCell(job.id)
    this.#cells.set(job.id, cell)
    const isNew = cell.stored === undefined && cell.current === undefined
    // Nobody takes what is finished from units.
    const isNewer = cell.stored !== undefined && !cell.isLocked && (isLocked || end !== undefined)
    if (isNew || isNewer) {
      cell.stored = job
      cell.storedEnd = end
      cell.hasValues = hasValues
      cell.isLocked = isLocked || end !== undefined
      this.#seqs.add(job.seq)
      if (end !== undefined) this.storedEnded.add(cell)
      this.#place(cell, job)
    } else if (hasValues && !cell.hasValues && cell.stored !== undefined) {
      this.#addValues(cell, job, end)
    }
    return cell
  }

  #lock(cell: JobCell): void {
    if (cell.stored === undefined || cell.isLocked) return
    this.#run.lack()
    this.#unlocked.add(cell.id)
  }

  #addValues(cell: JobCell, job: JobRow, end: AttemptRow | undefined): void {
    const { current, stored } = cell
    const { exit, metadata, payload } = job
    cell.hasValues = true
    cell.storedEnd = end
    cell.stored = stored === undefined ? undefined : { ...stored, payload, metadata, exit }
    if (current === stored) this.#place(cell, cell.stored)
    // What an enqueue has replaced meanwhile is newer.
    else if (current !== undefined && current.metadata === stored?.metadata)
      this.#place(cell, { ...current, payload, metadata })
  }

  #place(cell: JobCell, row: JobRow | undefined): void {
    const from = cell.current === undefined ? undefined : groupOf(cell.current)
    const to = row === undefined ? undefined : groupOf(row)
    cell.current = row
    if (from === to) return
    if (from !== undefined) this.#groups.get(from)?.delete(cell)
    if (to === undefined) return
    const group = this.#groups.get(to)
    if (group === undefined) this.#groups.set(to, new Set([cell]))
    else group.add(cell)
  }
}

const newCell = (id: string): JobCell => ({
  id,
  stored: undefined,
  storedEnd: undefined,
  hasValues: false,
  isLocked: false,
  current: undefined,
  entries: []
})
