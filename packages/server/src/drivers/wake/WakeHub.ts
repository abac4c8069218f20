/**
 * Wake-ups within one process. A claim that finds nothing takes a token; `awaitWake` parks with it until something became
 * claimable after the token was given. Parking costs a fiber and an entry in a map, and no timer.
 *
 * One job wakes one waiter: the one that has waited longest among those whose token asks for its name. Waiters that said no
 * names are woken beside it, and a whole queue (after a pause) wakes all of its waiters. A waiter that is interrupted
 * between being chosen and going on hands its wake to the next.
 */
import { Effect } from "effect"
import { QueueWaiters } from "./QueueWaiters.ts"
import { Waiter } from "./Waiter.ts"
import type { Wake } from "./Wake.ts"
import type { WakeEvent } from "./Wakes.ts"
import * as WakeToken from "./WakeToken.ts"

// Beyond so many queues those that nobody waits for are forgotten; older tokens then count as having missed something.
const fewQueues = 10_000

/** See the file. */
export class WakeHub implements Wake {
  readonly #origin = crypto.randomUUID()
  readonly #queues = new Map<string, QueueWaiters>()
  readonly #chosen: Array<Waiter> = []
  #version = 0
  #floor = 0
  #parked = 0
  #mostQueues = fewQueues
  #resuming = false

  /** How many waits are parked. */
  get parked(): number {
    return this.#parked
  }

  /** The token of a claim for these names; take it before or while the claim looks, so that it misses nothing. */
  token(queue: string, names: ReadonlyArray<string>): string {
    return WakeToken.format(this.#origin, this.#version, queue, names)
  }

  /** Says that work was committed; wakes whom it concerns. */
  notify(events: ReadonlyArray<WakeEvent>): void {
    if (events.length === 0) return
    for (const event of events) {
      const queue = this.#queue(event.queue)
      queue.remember(event.name, ++this.#version)
      if (event.name === undefined) this.#chooseOfAllNames(queue)
      else this.#chooseCounted(queue, event, event.name)
      this.#chooseOfAnyName(queue)
    }
    this.#resumeChosen()
  }

  /** Resolves when one of the queues may have got work since the token was given. */
  awaitWake(queues: ReadonlyArray<string>, token: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const seen = WakeToken.parse(token)
      return seen === undefined || this.#hasNews(queues, seen) ? Effect.void : this.#park(queues, seen)
    })
  }

  #hasNews(queues: ReadonlyArray<string>, seen: WakeToken.WakeToken): boolean {
    if (seen.origin !== this.#origin || seen.version < this.#floor) return true
    return queues.some((queue) => this.#queues.get(queue)?.hasNews(namesFor(queue, seen), seen.version) === true)
  }

  #park(queues: ReadonlyArray<string>, seen: WakeToken.WakeToken): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const waiter = new Waiter(() => resume(Effect.void))
      for (const queue of queues) this.#queue(queue).join(waiter, namesFor(queue, seen))
      this.#parked++
      return Effect.sync(() => this.#abandon(waiter))
    })
  }

  #abandon(waiter: Waiter): void {
    const { event, state } = waiter
    waiter.state = "gone"
    if (state === "parked") {
      waiter.leave()
      this.#parked--
    } else if (state === "chosen" && event?.name !== undefined) {
      this.#chooseCounted(this.#queue(event.queue), { ...event, count: 1 }, event.name)
      this.#resumeChosen()
    }
  }

  #chooseCounted(queue: QueueWaiters, event: WakeEvent, name: string): void {
    for (let left = event.count; left > 0; left--) {
      const waiter = queue.first(name)
      if (waiter === undefined) return
      this.#choose(waiter, event)
    }
  }

  #chooseOfAllNames(queue: QueueWaiters): void {
    for (const name of queue.names) {
      for (let waiter = queue.first(name); waiter !== undefined; waiter = queue.first(name)) this.#choose(waiter)
    }
  }

  #chooseOfAnyName(queue: QueueWaiters): void {
    for (let waiter = queue.firstOfAnyName(); waiter !== undefined; waiter = queue.firstOfAnyName())
      this.#choose(waiter)
  }

  #choose(waiter: Waiter, event?: WakeEvent): void {
    waiter.leave()
    waiter.state = "chosen"
    waiter.event = event
    this.#parked--
    this.#chosen.push(waiter)
  }

  // A resumed fiber runs at once and may notify again. Only the outermost call resumes, so the stack stays flat.
  #resumeChosen(): void {
    if (this.#resuming) return
    this.#resuming = true
    try {
      for (let index = 0; index < this.#chosen.length; index++) {
        const waiter = this.#chosen[index]
        if (waiter?.state !== "chosen") continue
        waiter.state = "gone"
        waiter.resume()
      }
    } finally {
      this.#chosen.length = 0
      this.#resuming = false
    }
  }

  #queue(name: string): QueueWaiters {
    let queue = this.#queues.get(name)
    if (queue === undefined) {
      if (this.#queues.size >= this.#mostQueues) this.#forgetQueues()
      queue = new QueueWaiters()
      this.#queues.set(name, queue)
    }
    return queue
  }

  #forgetQueues(): void {
    this.#floor = this.#version
    for (const [name, queue] of this.#queues) {
      if (queue.isEmpty) this.#queues.delete(name)
    }
    this.#mostQueues = Math.max(fewQueues, 2 * this.#queues.size)
  }
}

// What a token asked for is about its own queue; of another queue it says nothing.
const namesFor = (queue: string, seen: WakeToken.WakeToken): ReadonlyArray<string> | undefined =>
  seen.asked?.queue === queue ? seen.asked.names : undefined
