/**
 * Wake-ups within one process. A claim that finds nothing takes a token; `awaitWake` parks with it until something became
 * claimable after the token was given. Events are numbered by a counter, and a token holds its value.
 */
import { Effect } from "effect"
import { Parking, type Wanted } from "./Parking.ts"
import { QueueNews } from "./QueueNews.ts"
import type { Wake } from "./Wake.ts"
import type { WakeEvent } from "./Wakes.ts"
import * as WakeToken from "./WakeToken.ts"

// Beyond so many queues what happened in them is forgotten; older tokens then count as having missed something.
const mostQueues = 10_000

const isNews = (): boolean => true

/** See the file. */
export class WakeHub implements Wake {
  readonly #origin = crypto.randomUUID()
  readonly #news = new Map<string, QueueNews>()
  readonly #parking = new Parking<undefined>()
  #version = 0
  #floor = 0

  /** How many waits are parked. */
  get parked(): number {
    return this.#parking.parked
  }

  /** The token of a claim for these names; take it before or while the claim looks, so that it misses nothing. */
  token(queue: string, names: ReadonlyArray<string>): string {
    return WakeToken.format(this.#origin, this.#version.toString(36), queue, names)
  }

  /** Says that work was committed; wakes whom it concerns. */
  notify(events: ReadonlyArray<WakeEvent>): void {
    for (const { count, name, queue } of events) {
      this.#newsOf(queue).remember(name, ++this.#version)
      if (name === undefined) this.#parking.chooseAll(queue)
      else this.#parking.choose({ queue, name, isNews }, count)
    }
    if (events.length > 0) this.#parking.resume()
  }

  /** Resolves when one of the queues may have got work since the token was given. */
  awaitWake(queues: ReadonlyArray<string>, token: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const seen = WakeToken.parse(token)
      if (seen?.origin !== this.#origin) return Effect.void
      const wanted = WakeToken.wantedOf(seen, queues)
      return this.#hasNews(wanted, Number.parseInt(seen.position, 36))
        ? Effect.void
        : this.#parking.park(wanted, undefined)
    })
  }

  #hasNews(wanted: ReadonlyArray<Wanted>, version: number): boolean {
    // What is no number is behind everything.
    if (!(version >= this.#floor)) return true
    return wanted.some(({ names, queue }) => this.#news.get(queue)?.isAfter(version, names) === true)
  }

  #newsOf(queue: string): QueueNews {
    let news = this.#news.get(queue)
    if (news === undefined) {
      if (this.#news.size >= mostQueues) {
        this.#news.clear()
        this.#floor = this.#version
      }
      news = new QueueNews()
      this.#news.set(queue, news)
    }
    return news
  }
}
