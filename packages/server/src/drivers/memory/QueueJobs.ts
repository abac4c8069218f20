/** The jobs of one queue that are not finished: in line, delayed, or held by a token. */
import { byDueTime, byLine, type JobSlot, type MakeIndex } from "./JobSlot.ts"
import { Lanes } from "./Lanes.ts"
import { addTo, noCounts } from "../embedded/StateCounts.ts"

/** One lane a job name, so that a claim looks at the heads of the lanes it asks for, and at nothing else. */
export class QueueJobs {
  readonly counts = noCounts()
  readonly #waiting: Lanes<JobSlot>
  readonly #delayed: Lanes<JobSlot>
  readonly #held = new Map<string, JobSlot>()
  /** No delayed job is due before this. */
  #nothingDueBefore = Infinity
  #size = 0

  constructor(makeIndex: MakeIndex) {
    this.#waiting = new Lanes(makeIndex, byLine)
    this.#delayed = new Lanes(makeIndex, byDueTime)
  }

  get isEmpty(): boolean {
    return this.#size === 0
  }

  add(slot: JobSlot): void {
    const { name, runAt, state, token } = slot.row
    this.#size++
    addTo(this.counts, state, 1)
    if (state === "waiting") {
      this.#waiting.add(name, slot)
    } else if (state === "delayed") {
      this.#delayed.add(name, slot)
      this.#nothingDueBefore = Math.min(this.#nothingDueBefore, runAt)
    } else if (token !== undefined) {
      this.#held.set(token, slot)
    }
  }

  delete(slot: JobSlot): void {
    const { name, state, token } = slot.row
    this.#size--
    addTo(this.counts, state, -1)
    if (state === "waiting") this.#waiting.delete(name, slot)
    else if (state === "delayed") this.#delayed.delete(name, slot)
    else if (token !== undefined && this.#held.get(token) === slot) this.#held.delete(token)
  }

  firstWaiting(names: ReadonlyArray<string>): JobSlot | undefined {
    return this.#waiting.first(names)
  }

  firstDelayed(names: ReadonlyArray<string>): JobSlot | undefined {
    return this.#delayed.first(names)
  }

  heldBy(token: string): JobSlot | undefined {
    return this.#held.get(token)
  }

  due(now: number, limit: number): ReadonlyArray<JobSlot> {
    if (now < this.#nothingDueBefore) return []
    const due: Array<JobSlot> = []
    let next = Infinity
    for (const lane of this.#delayed.all()) {
      for (const slot of lane.ascending()) {
        if (slot.row.runAt > now) {
          next = Math.min(next, slot.row.runAt)
          break
        }
        if (due.length === limit) return due
        due.push(slot)
      }
    }
    // As long as due jobs are here they are found again.
    if (due.length === 0) this.#nothingDueBefore = next
    return due
  }
}
