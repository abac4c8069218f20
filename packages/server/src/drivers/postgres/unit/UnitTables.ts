/** All tables of one store in one transaction: what is loaded, and what units have made of it. */
import type { Tables } from "../../embedded/Tables.ts"
import type { LaneKey, LaneNumbers } from "../LaneNumbers.ts"
import { Asked } from "./Asked.ts"
import { changesOf, type JobChanges } from "./JobChanges.ts"
import * as JobWrites from "./JobWrites.ts"
import type { Load, Mode, Part, Write } from "./Load.ts"
import { Numbers } from "./Numbers.ts"
import { Run } from "./Run.ts"
import { UnitAttempts } from "./UnitAttempts.ts"
import { UnitChildren } from "./UnitChildren.ts"
import { UnitDedupes } from "./UnitDedupes.ts"
import { UnitJobs } from "./UnitJobs.ts"
import { UnitOutbox } from "./UnitOutbox.ts"
import { UnitPauses } from "./UnitPauses.ts"
import { UnitReceipts } from "./UnitReceipts.ts"
import { UnitSchedules } from "./UnitSchedules.ts"

/** What a transaction shall write, in two steps. */
export interface Changes {
  readonly clears: ReadonlyArray<Write>
  /** Lanes that must have a number before the writes. */
  readonly lanes: ReadonlyArray<LaneKey>
  /** The writes, by the numbers of all lanes. */
  readonly writes: (lanes: LaneNumbers) => ReadonlyArray<Write>
}

/** See the file. */
export class UnitTables implements Tables {
  readonly run = new Run()
  readonly jobs: UnitJobs
  readonly attempts: UnitAttempts
  readonly dedupes: UnitDedupes
  readonly pauses: UnitPauses
  readonly schedules: UnitSchedules
  readonly children: UnitChildren
  readonly outbox: UnitOutbox
  readonly receipts: UnitReceipts
  #snapshot: string | undefined = undefined
  readonly #numbers: Numbers
  readonly #asked: Asked
  readonly #lanes: LaneNumbers

  constructor(mode: Mode, lanes: LaneNumbers) {
    const { run } = this
    this.#lanes = lanes
    this.#numbers = new Numbers(run)
    this.#asked = new Asked(run, mode)
    this.jobs = new UnitJobs(run, mode, this.#numbers, lanes, (flowId) => this.children.deleteFlow(flowId))
    this.attempts = new UnitAttempts(run, this.jobs.cells, (id) => this.jobs.lackValues(id))
    this.dedupes = new UnitDedupes(run, (jobId) => this.jobs.keyed(jobId))
    this.pauses = new UnitPauses(run, this.#asked)
    this.schedules = new UnitSchedules(run, this.#asked)
    this.children = new UnitChildren(run, this.#asked, (id) => this.#isWaiting(id))
    this.outbox = new UnitOutbox(run, this.#numbers, this.#asked)
    this.receipts = new UnitReceipts(run)
  }

  /** What could be seen when the transaction began, which loads nothing for it. */
  get snapshot(): string {
    if (this.#snapshot === undefined) this.run.lack()
    return this.#snapshot ?? ""
  }

  /** The transaction has begun. */
  begun(snapshot: string): void {
    this.#snapshot = snapshot
  }

  get history(): UnitJobs {
    return this.jobs
  }

  /** Says that the last run is kept. */
  keep(): void {
    this.#numbers.keep()
  }

  /** What runs have lacked since this was last asked. */
  loads(): ReadonlyArray<Load> {
    return [
      ...this.#numbers.loads(),
      ...this.jobs.loads(),
      ...this.#parts.flatMap((part) => part.loads()),
      ...this.#asked.loads()
    ]
  }

  /** What kept runs have changed. */
  changes(): Changes {
    const jobs: JobChanges = changesOf(this.jobs.cells.all())
    return {
      clears: [...JobWrites.clears(jobs), ...this.children.clears()],
      lanes: this.#lanes.unknown(jobs.counts.map(({ lane }) => lane)),
      writes: (lanes) => [...JobWrites.writes(jobs, lanes), ...this.#parts.flatMap((part) => part.writes())]
    }
  }

  get #parts(): ReadonlyArray<Part> {
    return [this.attempts, this.dedupes, this.pauses, this.schedules, this.children, this.outbox, this.receipts]
  }

  #isWaiting(id: string): boolean | undefined {
    const cell = this.jobs.cells.find(id)
    return cell === undefined ? undefined : cell.current?.state === "waiting-children"
  }
}
