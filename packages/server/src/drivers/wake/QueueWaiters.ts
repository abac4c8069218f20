/** Who waits for one queue, and what happened in it. */
import { Lane, type Waiter } from "./Waiter.ts"

// A producer may invent names without end; beyond this many, what happened to each is told as having happened to all.
const mostNames = 1000

/** The waiters and the latest events of one queue. */
export class QueueWaiters {
  readonly #byName = new Map<string, Lane>()
  readonly #ofAnyName = new Lane(() => {})
  readonly #latestByName = new Map<string, number>()
  /** The version of the latest event of any kind. */
  #latest = 0
  /** Tokens older than this have missed something, whatever they had asked for. */
  #floor = 0

  get isEmpty(): boolean {
    return this.#ofAnyName.isEmpty && this.#byName.size === 0
  }

  /** Whether something happened for these names after the version; without names, whether anything did. */
  hasNews(names: ReadonlyArray<string> | undefined, version: number): boolean {
    if (version < this.#floor) return true
    if (names === undefined) return version < this.#latest
    return names.some((name) => version < (this.#latestByName.get(name) ?? 0))
  }

  /** Remembers that a job of this name, or without a name every job, became claimable. */
  remember(name: string | undefined, version: number): void {
    this.#latest = version
    if (name === undefined || (this.#latestByName.size >= mostNames && !this.#latestByName.has(name))) {
      this.#floor = version
      this.#latestByName.clear()
    } else {
      this.#latestByName.set(name, version)
    }
  }

  /** Parks a waiter for jobs of these names; without names, for any. */
  join(waiter: Waiter, names: ReadonlyArray<string> | undefined): void {
    if (names === undefined) {
      this.#ofAnyName.join(waiter)
      return
    }
    for (const name of names) {
      let lane = this.#byName.get(name)
      if (lane === undefined) {
        lane = new Lane(() => this.#byName.delete(name))
        this.#byName.set(name, lane)
      }
      lane.join(waiter)
    }
  }

  /** The waiter that has waited longest for this name. */
  first(name: string): Waiter | undefined {
    return this.#byName.get(name)?.first
  }

  /** The waiter that has waited longest among those who said no names. */
  firstOfAnyName(): Waiter | undefined {
    return this.#ofAnyName.first
  }

  /** The names that somebody waits for. */
  get names(): Iterable<string> {
    return this.#byName.keys()
  }
}
