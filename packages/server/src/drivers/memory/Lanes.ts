/** Indexes by key, each there as long as something is in it. */
import type { Compare, OrderedIndex } from "./OrderedIndex.ts"
import type { MakeIndex } from "./JobSlot.ts"

/** One ordered index a key. */
export class Lanes<A> {
  readonly #lanes = new Map<string, OrderedIndex<A>>()
  readonly #makeIndex: MakeIndex
  readonly #compare: Compare<A>

  constructor(makeIndex: MakeIndex, compare: Compare<A>) {
    this.#makeIndex = makeIndex
    this.#compare = compare
  }

  get(key: string): OrderedIndex<A> | undefined {
    return this.#lanes.get(key)
  }

  /** Every lane. */
  all(): Iterable<OrderedIndex<A>> {
    return this.#lanes.values()
  }

  add(key: string, item: A): void {
    let lane = this.#lanes.get(key)
    if (lane === undefined) {
      lane = this.#makeIndex(this.#compare)
      this.#lanes.set(key, lane)
    }
    lane.add(item)
  }

  delete(key: string, item: A): void {
    const lane = this.#lanes.get(key)
    if (lane?.delete(item) === true && lane.size === 0) this.#lanes.delete(key)
  }

  /** The best of the first items of these lanes. */
  first(keys: ReadonlyArray<string>): A | undefined {
    let best: A | undefined
    for (const key of keys) {
      const first = this.#lanes.get(key)?.first
      if (first !== undefined && (best === undefined || this.#compare(first, best) < 0)) best = first
    }
    return best
  }
}
