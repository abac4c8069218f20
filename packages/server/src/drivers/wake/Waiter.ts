/** Parked waits, in lanes of first come, first served. Joining, leaving and taking the first cost the same at any length. */
import type { WakeEvent } from "./Wakes.ts"

/** One parked wait. */
export class Waiter {
  /** Lets the wait go on. */
  readonly resume: () => void
  /** Its places, one a lane. */
  readonly places: Array<Place> = []
  /** `chosen`: it left its lanes and will be resumed; `gone`: it was resumed or interrupted. */
  state: "parked" | "chosen" | "gone" = "parked"
  /** The event that chose this waiter and no other. */
  event: WakeEvent | undefined = undefined

  constructor(resume: () => void) {
    this.resume = resume
  }

  /** Takes it out of its lanes. */
  leave(): void {
    for (const place of this.places) place.lane.leave(place)
    this.places.length = 0
  }
}

/** A waiter's place in a lane. */
export interface Place {
  readonly waiter: Waiter
  readonly lane: Lane
  before: Place | undefined
  behind: Place | undefined
}

/** A doubly linked list of places. */
export class Lane {
  readonly #onEmpty: () => void
  #first: Place | undefined = undefined
  #last: Place | undefined = undefined

  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty
  }

  /** The waiter that came first. */
  get first(): Waiter | undefined {
    return this.#first?.waiter
  }

  get isEmpty(): boolean {
    return this.#first === undefined
  }

  /** Puts a waiter at the end. */
  join(waiter: Waiter): void {
    const place: Place = { waiter, lane: this, before: this.#last, behind: undefined }
    if (this.#last === undefined) this.#first = place
    else this.#last.behind = place
    this.#last = place
    waiter.places.push(place)
  }

  /** Takes a place out. */
  leave(place: Place): void {
    if (place.before === undefined) this.#first = place.behind
    else place.before.behind = place.behind
    if (place.behind === undefined) this.#last = place.before
    else place.behind.before = place.before
    if (this.#first === undefined) this.#onEmpty()
  }
}
