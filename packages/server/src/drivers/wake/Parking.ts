/**
 * Where waits are parked, and who of them is woken. Parking costs a fiber and an entry in a map, and no timer.
 *
 * One job wakes one waiter: the one that has waited longest among those whose token asks for its name. Waiters that said no
 * names are woken beside it, and a whole queue (after a pause) wakes all of its waiters. A waiter that is interrupted
 * between being chosen and going on hands its call to the next.
 */
import { Effect } from "effect"
import { QueueWaiters } from "./QueueWaiters.ts"
import { type Call, Waiter } from "./Waiter.ts"

/** What a wait waits for in one queue: jobs of these names; without names, any. */
export interface Wanted {
  readonly queue: string
  readonly names: ReadonlyArray<string> | undefined
}

/** Is told that waiters for a name, or without a name those who said none, have come or gone. */
export interface OnChange {
  (queue: string, name: string | undefined): void
}

/** The parked waits of one store, each with what its claim had seen. */
export class Parking<Seen> {
  readonly #onChange: OnChange
  readonly #queues = new Map<string, QueueWaiters<Seen>>()
  readonly #chosen: Array<Waiter<Seen>> = []
  #parked = 0
  #resuming = false

  constructor(onChange: OnChange = () => {}) {
    this.#onChange = onChange
  }

  /** How many waits are parked. */
  get parked(): number {
    return this.#parked
  }

  /** How many wait for this name in the queue; without a name, how many said none. */
  size(queue: string, name: string | undefined): number {
    return this.#queues.get(queue)?.size(name) ?? 0
  }

  /** What is waited for, each queue and name once, and how many wait for it. */
  *wanted(): Iterable<{ readonly queue: string; readonly name: string | undefined; readonly waiters: number }> {
    for (const [queue, waiters] of this.#queues) {
      for (const name of waiters.names) yield { queue, name, waiters: waiters.size(name) }
      if (waiters.size(undefined) > 0) yield { queue, name: undefined, waiters: waiters.size(undefined) }
    }
  }

  /** Parks until it is chosen. */
  park(wanted: ReadonlyArray<Wanted>, seen: Seen): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const waiter = new Waiter(seen, () => resume(Effect.void))
      this.#parked++
      for (const { names, queue } of wanted) this.#queue(queue).join(waiter, names)
      return Effect.sync(() => this.#abandon(waiter))
    })
  }

  /**
   * Chooses a waiter a job, as far as there are some to whom it is news, and beside them all of any name; answers how many were
   * chosen for the jobs. The chosen go on by {@link resume}.
   */
  choose(call: Call<Seen>, jobs: number): number {
    const queue = this.#queues.get(call.queue)
    if (queue === undefined) return 0
    const chosen = this.#chooseCounted(queue, call, jobs)
    this.#chooseOfAnyName(queue, call.isNews)
    return chosen
  }

  /** Chooses all waiters of a queue to whom something is news. */
  chooseAll(name: string, isNews?: (seen: Seen) => boolean): void {
    const queue = this.#queues.get(name)
    if (queue === undefined) return
    for (const name of queue.names) {
      for (let waiter = queue.first(name, isNews); waiter !== undefined; waiter = queue.first(name, isNews)) {
        this.#choose(waiter)
      }
    }
    this.#chooseOfAnyName(queue, isNews)
  }

  /** Chooses those waiters of a queue who said no names. */
  chooseOfAnyName(name: string): void {
    const queue = this.#queues.get(name)
    if (queue !== undefined) this.#chooseOfAnyName(queue)
  }

  /** Lets the chosen go on. A resumed fiber runs at once and may choose again: only the outermost call resumes, so the stack stays flat. */
  resume(): void {
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

  #abandon(waiter: Waiter<Seen>): void {
    const { call, state } = waiter
    waiter.state = "gone"
    if (state === "parked") {
      waiter.leave()
      this.#parked--
    } else if (state === "chosen" && call !== undefined) {
      if (this.choose(call, 1) === 0) call.unanswered?.()
      this.resume()
    }
  }

  #chooseCounted(queue: QueueWaiters<Seen>, call: Call<Seen>, jobs: number): number {
    for (let chosen = 0; chosen < jobs; chosen++) {
      const waiter = queue.first(call.name, call.isNews)
      if (waiter === undefined) return chosen
      waiter.call = call
      this.#choose(waiter)
    }
    return jobs
  }

  #chooseOfAnyName(queue: QueueWaiters<Seen>, isNews?: (seen: Seen) => boolean): void {
    for (let waiter = queue.firstOfAnyName(isNews); waiter !== undefined; waiter = queue.firstOfAnyName(isNews)) {
      this.#choose(waiter)
    }
  }

  #choose(waiter: Waiter<Seen>): void {
    waiter.leave()
    waiter.state = "chosen"
    this.#parked--
    this.#chosen.push(waiter)
  }

  #queue(name: string): QueueWaiters<Seen> {
    let queue = this.#queues.get(name)
    if (queue === undefined) {
      const made = new QueueWaiters<Seen>((jobName) => {
        if (made.isEmpty) this.#queues.delete(name)
        this.#onChange(name, jobName)
      })
      queue = made
      this.#queues.set(name, made)
    }
    return queue
  }
}
