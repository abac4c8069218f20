/** What is to be told to the other servers, gathered until the next notification goes. */
import type { LaneKey } from "./LaneKey.ts"
import { textOf } from "./LaneKey.ts"
import * as Message from "./Message.ts"
import type { Share } from "./Peers.ts"

interface Gathered {
  readonly key: LaneKey
  readonly transactions: Array<number>
  readonly calls: Map<string, number>
  rest: number
}

// While nothing can be sent, so many queues and names are kept; what is beyond, the look at the database covers.
const mostEvents = 10_000

/** See the file. */
export class Outgoing {
  readonly #from: string
  readonly #events = new Map<string, Gathered>()
  readonly #waiting = new Map<string, Message.Waiting>()
  #sign: Message.Sign | undefined = undefined

  constructor(from: string) {
    this.#from = from
  }

  get isEmpty(): boolean {
    return this.#sign === undefined && this.#events.size === 0 && this.#waiting.size === 0
  }

  /**
   * Jobs became claimable in these transactions; the servers of the shares are to wake their waiters, and each of all the others as many
   * as `rest` says.
   */
  event(key: LaneKey, transactions: ReadonlyArray<number>, shares: ReadonlyArray<Share>, rest: number): void {
    const text = textOf(key)
    let event = this.#events.get(text)
    if (event === undefined) {
      if (this.#events.size >= mostEvents) return
      event = { key, transactions: [], calls: new Map(), rest: 0 }
      this.#events.set(text, event)
    }
    event.transactions.push(...transactions)
    for (const { peer, waiters } of shares) event.calls.set(peer, (event.calls.get(peer) ?? 0) + waiters)
    event.rest += rest
  }

  /** So many wait here. */
  waiting(key: LaneKey, waiters: number): void {
    this.#waiting.set(textOf(key), { ...wire(key), waiters })
  }

  sign(sign: Message.Sign): void {
    this.#sign = sign
  }

  /** The payloads for everything gathered, which then is told. */
  take(): ReadonlyArray<string> {
    const payloads = Message.write({
      from: this.#from,
      ...(this.#sign === undefined ? {} : { sign: this.#sign }),
      events: Array.from(this.#events.values(), ({ calls, key, rest, transactions }) => ({
        ...wire(key),
        transactions,
        calls: Array.from(calls),
        rest
      })),
      waiting: Array.from(this.#waiting.values())
    })
    this.#sign = undefined
    this.#events.clear()
    this.#waiting.clear()
    return payloads
  }
}

const wire = ({ name, queue, store }: LaneKey) => ({ store, queue, name: name ?? null })
