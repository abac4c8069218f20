/**
 * Where the heads of lanes were. Every claim leaves a dead row behind, and while an old transaction is open nobody can clear them
 * away: a claim that began at the front would walk over all that was ever taken. New jobs only join a lane at its end, so a claim may
 * begin where an earlier one found the head.
 *
 * That is a hint and no more. Numbers are drawn before they are committed, so a job may turn up before the head: a claim begins
 * where the head was some moments ago, twice a second where it was some seconds ago, and now and then at the front. Before a queue
 * is called empty somebody looks without hints.
 */

/** A lane, and the place from which it is to be looked at. */
export interface LaneStart {
  readonly lane: number
  readonly priority: number
  readonly start: number
}

// A number that was drawn is as good as always committed within the first; a transaction may take the second before it is given up.
const momentMs = 50
const lookBackEveryMs = 500
const whileMs = 5000
const frontEveryMs = 10_000

// Only lanes that are claimed from have an entry.
const mostLanes = 100_000

/** A place as it was at least a period ago, and at most two. */
class Aged {
  readonly #periodMs: number
  #older = 0
  #newer = 0
  #since: number

  constructor(periodMs: number, now: number) {
    this.#periodMs = periodMs
    this.#since = now
  }

  at(now: number, current: number): number {
    if (now - this.#since >= this.#periodMs) {
      this.#older = now - this.#since >= 2 * this.#periodMs ? current : this.#newer
      this.#newer = current
      this.#since = now
    }
    return this.#older
  }
}

class Head {
  readonly #moment: Aged
  readonly #while: Aged
  #place = 0
  #lookedBackAt: number
  #beganAtFrontAt: number

  constructor(now: number) {
    this.#moment = new Aged(momentMs, now)
    this.#while = new Aged(whileMs, now)
    this.#lookedBackAt = now
    this.#beganAtFrontAt = now
  }

  start(now: number): number {
    const moment = this.#moment.at(now, this.#place)
    const some = this.#while.at(now, this.#place)
    if (now - this.#beganAtFrontAt >= frontEveryMs) {
      this.#beganAtFrontAt = now
      return 0
    }
    if (now - this.#lookedBackAt >= lookBackEveryMs) {
      this.#lookedBackAt = now
      return some
    }
    return moment
  }

  found(place: number): void {
    this.#place = Math.max(this.#place, place)
  }
}

/** The heads of the lanes that a server has claimed from. Times are milliseconds of any clock that only goes forward. */
export class Watermarks {
  #heads = new Map<number, Head>()

  /** From which place a claim looks at the lane now. */
  start(lane: number, now: number): number {
    return this.#heads.get(lane)?.start(now) ?? 0
  }

  /** A claim that began where it was told has found this place at the head of the lane. */
  found(lane: number, place: number, now: number): void {
    let head = this.#heads.get(lane)
    if (head === undefined) {
      if (this.#heads.size >= mostLanes) this.#heads = new Map()
      head = new Head(now)
      this.#heads.set(lane, head)
    }
    head.found(place)
  }

  /** The next claim looks at all of the lane. */
  forget(lane: number): void {
    this.#heads.delete(lane)
  }
}
