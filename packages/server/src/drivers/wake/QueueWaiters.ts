/** Who waits for one queue. */
import { Lane, type Waiter } from "./Waiter.ts"

const everybody = (): boolean => true

/** The waiters of one queue: those for jobs of some names, and those for any. */
export class QueueWaiters<Seen> {
  readonly #onChange: (name: string | undefined) => void
  readonly #byName = new Map<string, Lane<Seen>>()
  readonly #ofAnyName: Lane<Seen>

  /** The function is told whenever a waiter for a name, or for any, has come or gone. */
  constructor(onChange: (name: string | undefined) => void) {
    this.#onChange = onChange
    this.#ofAnyName = new Lane(() => onChange(undefined))
  }

  get isEmpty(): boolean {
    return this.#ofAnyName.size === 0 && this.#byName.size === 0
  }

  /** Parks a waiter for jobs of these names; without names, for any. */
  join(waiter: Waiter<Seen>, names: ReadonlyArray<string> | undefined): void {
    if (names === undefined) this.#ofAnyName.join(waiter)
    else for (const name of names) this.#lane(name).join(waiter)
  }

  /** How many wait for this name; without a name, how many said none. */
  size(name: string | undefined): number {
    return (name === undefined ? this.#ofAnyName : this.#byName.get(name))?.size ?? 0
  }

  /** The waiter that has waited longest for this name, of those to whom something is news. */
  first(name: string, isNews: (seen: Seen) => boolean = everybody): Waiter<Seen> | undefined {
    return this.#byName.get(name)?.first(isNews)
  }

  /** The waiter that has waited longest among those who said no names, of those to whom something is news. */
  firstOfAnyName(isNews: (seen: Seen) => boolean = everybody): Waiter<Seen> | undefined {
    return this.#ofAnyName.first(isNews)
  }

  /** The names that somebody waits for. */
  get names(): Iterable<string> {
    return this.#byName.keys()
  }

  #lane(name: string): Lane<Seen> {
    let lane = this.#byName.get(name)
    if (lane === undefined) {
      lane = new Lane((size) => {
        if (size === 0) this.#byName.delete(name)
        this.#onChange(name)
      })
      this.#byName.set(name, lane)
    }
    return lane
  }
}
