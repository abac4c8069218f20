/**
 * A sorted set in chunks: finding a place costs two binary searches, writing moves a few hundred references at most. The
 * first item is at hand, whatever the size.
 */

/** Negative when `one` comes first; 0 only for the same item. */
export interface Compare<A> {
  (one: A, other: A): number
}

const longestChunk = 256

/** See the file. An item's place must not change while it is in. */
export class OrderedIndex<A> {
  readonly #compare: Compare<A>
  readonly #chunks: Array<Array<A>> = []
  #size = 0

  constructor(compare: Compare<A>) {
    this.#compare = compare
  }

  get size(): number {
    return this.#size
  }

  /** The item that comes first. */
  get first(): A | undefined {
    return this.#chunks[0]?.[0]
  }

  /** Puts an item in, which must not be there. */
  add(item: A): void {
    this.#size++
    const last = this.#chunks.at(-1)
    if (last === undefined) {
      this.#chunks.push([item])
    } else if (this.#compare(last[last.length - 1] as A, item) < 0) {
      // Growing at the end keeps chunks full.
      if (last.length < longestChunk) last.push(item)
      else this.#chunks.push([item])
    } else {
      this.#insert(item)
    }
  }

  /** Takes an item out; answers whether it was there. */
  delete(item: A): boolean {
    if (this.first === item) return this.#remove(0, 0)
    const at = this.#chunkOf((other) => this.#compare(other, item) < 0)
    const chunk = this.#chunks[at]
    if (chunk === undefined) return false
    const index = partition(chunk, (other) => this.#compare(other, item) < 0)
    return index < chunk.length && this.#compare(chunk[index] as A, item) === 0 && this.#remove(at, index)
  }

  /** Walks upwards from the first item that `isBefore` does not hold for; it holds for a head of the order. */
  *ascending(isBefore: (item: A) => boolean = nothing): IterableIterator<A> {
    let at = this.#chunkOf(isBefore)
    let index = partition(this.#chunks[at] ?? [], isBefore)
    for (; at < this.#chunks.length; at++, index = 0) {
      const chunk = this.#chunks[at] as Array<A>
      for (; index < chunk.length; index++) yield chunk[index] as A
    }
  }

  /** Walks downwards from the last item that `isIn` holds for; it holds for a head of the order. */
  *descending(isIn: (item: A) => boolean = everything): IterableIterator<A> {
    let at = Math.min(this.#chunkOf(isIn), this.#chunks.length - 1)
    let index = partition(this.#chunks[at] ?? [], isIn) - 1
    for (; at >= 0; index = (this.#chunks[--at]?.length ?? 0) - 1) {
      const chunk = this.#chunks[at] as Array<A>
      for (; index >= 0; index--) yield chunk[index] as A
    }
  }

  #remove(at: number, index: number): true {
    // The place was found in the index.
    const chunk = this.#chunks[at] as Array<A>
    if (index === 0) chunk.shift()
    else chunk.splice(index, 1)
    if (chunk.length === 0) this.#chunks.splice(at, 1)
    this.#size--
    return true
  }

  #insert(item: A): void {
    const at = this.#chunkOf((other) => this.#compare(other, item) < 0)
    const chunk = this.#chunks[at] as Array<A>
    chunk.splice(
      partition(chunk, (other) => this.#compare(other, item) < 0),
      0,
      item
    )
    if (chunk.length > longestChunk) this.#chunks.splice(at + 1, 0, chunk.splice(longestChunk >> 1))
  }

  /** The first chunk whose last item `isBefore` does not hold for. */
  #chunkOf(isBefore: (item: A) => boolean): number {
    return partition(this.#chunks, (chunk) => isBefore(chunk[chunk.length - 1] as A))
  }
}

const nothing = () => false
const everything = () => true

/** How many items at the head `holds` is true for. */
const partition = <A>(items: ReadonlyArray<A>, holds: (item: A) => boolean): number => {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    // The middle lies within the items.
    if (holds(items[middle] as A)) low = middle + 1
    else high = middle
  }
  return low
}
