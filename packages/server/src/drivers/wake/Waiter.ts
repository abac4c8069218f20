/** Parked waits, in lanes of first come, first served. Joining, leaving and taking the first cost the same at any length. */

/** Jobs of one name that became claimable: they call for as many waiters, among those to whom they are news. */
export interface Call<Seen> {
  readonly queue: string
  readonly name: string
  readonly isNews: (seen: Seen) => boolean
  /** A waiter that was chosen went away, and nobody else here is there for the call. */
  readonly unanswered?: () => void
}

/** One parked wait. */
export class Waiter<Seen> {
  /** What its claim had seen. */
  readonly seen: Seen
  /** Lets the wait go on. */
  readonly resume: () => void
  /** Its places, one a lane. */
  readonly places: Array<Place<Seen>> = []
  /** `chosen`: it left its lanes and will be resumed; `gone`: it was resumed or interrupted. */
  state: "parked" | "chosen" | "gone" = "parked"
  /** The call that chose this waiter and no other. */
  call: Call<Seen> | undefined = undefined

  constructor(seen: Seen, resume: () => void) {
    this.seen = seen
    this.resume = resume
  }

  /** Takes it out of its lanes. */
  leave(): void {
    for (const place of this.places) place.lane.leave(place)
    this.places.length = 0
  }
}

/** A waiter's place in a lane. */
export interface Place<Seen> {
  readonly waiter: Waiter<Seen>
  readonly lane: Lane<Seen>
  before: Place<Seen> | undefined
  behind: Place<Seen> | undefined
}

/** A doubly linked list of places. */
export class Lane<Seen> {
  readonly #onChange: (size: number) => void
  #first: Place<Seen> | undefined = undefined
  #last: Place<Seen> | undefined = undefined
  #size = 0

  /** The function is told each new size. */
  constructor(onChange: (size: number) => void) {
    this.#onChange = onChange
  }

  get size(): number {
    return this.#size
  }

  /** The waiter that came first, of those to whom something is news. */
  first(isNews: (seen: Seen) => boolean): Waiter<Seen> | undefined {
    for (let place = this.#first; place !== undefined; place = place.behind) {
      if (isNews(place.waiter.seen)) return place.waiter
    }
    return undefined
  }

  /** Puts a waiter at the end. */
  join(waiter: Waiter<Seen>): void {
    const place: Place<Seen> = { waiter, lane: this, before: this.#last, behind: undefined }
    if (this.#last === undefined) this.#first = place
    else this.#last.behind = place
    this.#last = place
    waiter.places.push(place)
    this.#onChange(++this.#size)
  }

  /** Takes a place out. */
  leave(place: Place<Seen>): void {
    if (place.before === undefined) this.#first = place.behind
    else place.before.behind = place.behind
    if (place.behind === undefined) this.#last = place.before
    else place.behind.before = place.before
    this.#onChange(--this.#size)
  }
}
