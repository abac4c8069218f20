/**
 * What this server knows to have happened, and in which transaction: what a token is held against.
 *
 * It knows all that was committed and told since it listens, but for what it has forgotten, and all of that is visible in its floor:
 * a snapshot. A token whose snapshot does not see what the floor sees counts as having news. That happens once: the claim that
 * follows is later than the floor.
 */
import type { Wanted } from "../../wake/Parking.ts"
import { covers, type Snapshot } from "./Snapshot.ts"
import { Transactions } from "./Transactions.ts"

/** The events of one queue. */
class QueueEvents {
  readonly byName = new Map<string, Transactions>()
  /** Events that concern every name. */
  readonly ofAll = new Transactions()
  /** All of these together. */
  readonly any = new Transactions()

  record(name: string | undefined, transaction: number): boolean {
    let ofName = name === undefined ? this.ofAll : this.byName.get(name)
    if (ofName === undefined) {
      ofName = new Transactions()
      // Without a name it is that of all.
      this.byName.set(name as string, ofName)
    }
    this.any.add(transaction)
    return ofName.add(transaction)
  }

  hasUnseen(names: ReadonlyArray<string> | undefined, snapshot: Snapshot): boolean {
    if (!this.any.hasUnseen(snapshot)) return false
    if (names === undefined || this.ofAll.hasUnseen(snapshot)) return true
    return names.some((name) => this.byName.get(name)?.hasUnseen(snapshot) === true)
  }

  /** Answers how many are left. */
  forgetSeen(snapshot: Snapshot): number {
    let left = 0
    for (const [name, transactions] of this.byName) {
      transactions.forgetSeen(snapshot)
      left += transactions.size
      if (transactions.size === 0) this.byName.delete(name)
    }
    this.ofAll.forgetSeen(snapshot)
    this.any.forgetSeen(snapshot)
    return left + this.ofAll.size
  }
}

/** See the file. */
export class RecentEvents {
  readonly #queues = new Map<string, QueueEvents>()
  #floor: Snapshot | undefined = undefined
  #size = 0

  /** How many are remembered. */
  get size(): number {
    return this.#size
  }

  /** Remembers that jobs of this name, or without a name all of the queue, became claimable by a transaction. */
  record(store: number, queue: string, name: string | undefined, transaction: number): void {
    const key = keyOf(store, queue)
    let events = this.#queues.get(key)
    if (events === undefined) {
      events = new QueueEvents()
      this.#queues.set(key, events)
    }
    if (events.record(name, transaction)) this.#size++
  }

  /** Whether something may have happened in one of these queues that the snapshot does not see. */
  hasNews(store: number, wanted: ReadonlyArray<Wanted>, snapshot: Snapshot): boolean {
    if (this.#floor !== undefined && !covers(snapshot, this.#floor)) return true
    return wanted.some(({ names, queue }) => this.#queues.get(keyOf(store, queue))?.hasUnseen(names, snapshot) === true)
  }

  /** Forgets what was visible in the snapshot, which becomes the floor, unless it was taken before the floor was. */
  settle(snapshot: Snapshot): void {
    if (this.#floor !== undefined && !covers(snapshot, this.#floor)) return
    this.#floor = snapshot
    this.#size = 0
    for (const [key, events] of this.#queues) {
      const left = events.forgetSeen(snapshot)
      this.#size += left
      if (left === 0) this.#queues.delete(key)
    }
  }

  /** Forgets everything, as another life of the database numbers its transactions anew, and begins at this snapshot. */
  begin(snapshot: Snapshot): void {
    this.#queues.clear()
    this.#size = 0
    this.#floor = snapshot
  }
}

const keyOf = (store: number, queue: string): string => `${store}/${queue}`
