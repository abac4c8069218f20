/** Numbers of transactions, in ascending order. */
import { sees, type Snapshot } from "./Snapshot.ts"

/** A set of transactions that is asked what a snapshot has not seen. */
export class Transactions {
  #numbers: Array<number> = []

  get size(): number {
    return this.#numbers.length
  }

  /** Answers whether it is new. Most come in order, so it is put at the end. */
  add(transaction: number): boolean {
    const index = this.#indexFrom(transaction)
    if (this.#numbers[index] === transaction) return false
    this.#numbers.splice(index, 0, transaction)
    return true
  }

  /** Whether one of them was not visible in the snapshot. */
  hasUnseen({ next, open }: Snapshot): boolean {
    const latest = this.#numbers.at(-1)
    if (latest === undefined) return false
    if (latest >= next) return true
    return open.some(({ first, last }) => {
      const found = this.#numbers[this.#indexFrom(first)]
      return found !== undefined && found <= last
    })
  }

  /** Forgets those that were visible in the snapshot. */
  forgetSeen(snapshot: Snapshot): void {
    this.#numbers = this.#numbers.filter((transaction) => !sees(snapshot, transaction))
  }

  /** The index of the first that is not below this one. */
  #indexFrom(transaction: number): number {
    const last = this.#numbers.at(-1)
    if (last === undefined || last < transaction) return this.#numbers.length
    let low = 0
    let high = this.#numbers.length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#numbers[middle] ?? 0) < transaction) low = middle + 1
      else high = middle
    }
    return low
  }
}
