/** The other servers of the database, as far as they have told: who is there, and what their waiters wait for. */
import { type LaneKey, textOf } from "./LaneKey.ts"

/** So many waiters of a server. */
export interface Share {
  readonly peer: string
  readonly waiters: number
}

/** See the file. Times are in milliseconds. */
export class Peers {
  readonly #heardAt = new Map<string, number>()
  readonly #waiters = new Map<string, Map<string, number>>()
  #lastHeardAt = -Infinity

  /** When anybody was heard of last. */
  get lastHeardAt(): number {
    return this.#lastHeardAt
  }

  /** Something was heard from a server; answers whether it was not known. */
  heard(peer: string, now: number): boolean {
    const isNew = !this.#heardAt.has(peer)
    this.#heardAt.set(peer, now)
    this.#lastHeardAt = now
    return isNew
  }

  /** A server said how many wait there. */
  told(peer: string, key: LaneKey, waiters: number): void {
    const text = textOf(key)
    const ofKey = this.#waiters.get(text)
    if (waiters > 0) {
      if (ofKey === undefined) this.#waiters.set(text, new Map([[peer, waiters]]))
      else ofKey.set(peer, waiters)
    } else if (ofKey?.delete(peer) === true && ofKey.size === 0) {
      this.#waiters.delete(text)
    }
  }

  /** Nobody waits at this server any more. */
  forgetWaiters(peer: string): void {
    for (const [text, ofKey] of this.#waiters) {
      if (ofKey.delete(peer) && ofKey.size === 0) this.#waiters.delete(text)
    }
  }

  /** A server has gone. */
  forget(peer: string): void {
    this.#heardAt.delete(peer)
    this.forgetWaiters(peer)
  }

  /** Forgets those that were last heard before this time. */
  forgetSilent(before: number): void {
    for (const [peer, at] of this.#heardAt) if (at < before) this.forget(peer)
  }

  /** Forgets everybody. */
  forgetAll(): void {
    this.#heardAt.clear()
    this.#waiters.clear()
  }

  /**
   * Which servers are to wake how many waiters for these jobs: each is drawn at random, weighted by its waiters, and counts as having
   * so many fewer. `random` draws from 0 to below 1. Less than all when fewer are known to wait.
   */
  share(key: LaneKey, jobs: number, random: () => number): ReadonlyArray<Share> {
    const waiting = new Map(this.#waiters.get(textOf(key)))
    const shares: Array<Share> = []
    let left = jobs
    while (left > 0 && waiting.size > 0) {
      const peer = draw(waiting, random())
      const known = waiting.get(peer) ?? 0
      const waiters = Math.min(left, known)
      shares.push({ peer, waiters })
      this.told(peer, key, known - waiters)
      waiting.delete(peer)
      left -= waiters
    }
    return shares
  }
}

const draw = (waiting: ReadonlyMap<string, number>, random: number): string => {
  let total = 0
  for (const count of waiting.values()) total += count
  let left = random * total
  let drawn = ""
  for (const [peer, count] of waiting) {
    drawn = peer
    left -= count
    if (left < 0) break
  }
  return drawn
}
