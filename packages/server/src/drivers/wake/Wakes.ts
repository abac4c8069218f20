/** What a unit of work has made claimable, collected while it writes and told to the hub once it is committed. */

/** So many jobs of a name became claimable in a queue; without a name, the whole queue did. */
export interface WakeEvent {
  readonly queue: string
  readonly name: string | undefined
  readonly count: number
}

const none: ReadonlyArray<WakeEvent> = []

/** Collects the events of one unit of work. */
export class Wakes {
  #events: Array<WakeEvent> | undefined = undefined

  /** A job of this name became claimable, or will at a time that takers should know of. */
  job(queue: string, name: string): void {
    const last = this.#events?.at(-1)
    if (this.#events === undefined || last === undefined) {
      this.#events = [{ queue, name, count: 1 }]
    } else if (last.queue === queue && last.name === name) {
      this.#events[this.#events.length - 1] = { queue, name, count: last.count + 1 }
    } else {
      this.#events.push({ queue, name, count: 1 })
    }
  }

  /** Every job of the queue became claimable. */
  queue(queue: string): void {
    this.#events ??= []
    this.#events.push({ queue, name: undefined, count: Infinity })
  }

  /** What was collected, in order. */
  get events(): ReadonlyArray<WakeEvent> {
    return this.#events ?? none
  }
}
