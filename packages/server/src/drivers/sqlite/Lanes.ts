/**
 * Lanes: the jobs of one queue and name. Rows hold a lane's number in place of two names. Its tally says how many jobs it
 * has in each state, so that counts need no scan and a claim looks only where something waits, whatever else is queued.
 */
import { type JobCounts, type JobState } from "@jobwire/protocol"
import { addTo, noCounts } from "../embedded/StateCounts.ts"
import { states } from "../columns/Codes.ts"

/** The jobs of one queue and name. */
export interface Lane {
  readonly id: number
  readonly queue: string
  readonly name: string
  /** How many jobs are in each state, by the state's code. */
  readonly tally: Array<number>
  /** No time by which a job of the lane is listed is before this one. */
  earliest: number
  /** No time by which a job of the lane is listed is after this one. */
  latest: number
  /** No delayed job of the lane runs before this moment. */
  delayedFrom: number
}

/** How many jobs of the lane are in the state. */
export const tallyOf = (lane: Lane, state: JobState): number => lane.tally[states.code(state)] ?? 0

const none: ReadonlyMap<string, Lane> = new Map()

/** The lanes of one store, all of them in memory. */
export class Lanes {
  readonly #byId = new Map<number, Lane>()
  readonly #byQueue = new Map<string, Map<string, Lane>>()
  readonly #byName = new Map<string, Map<string, Lane>>()
  #lastId = 0

  /** The lane with this number, which a row holds. */
  byId(id: number): Lane {
    const lane = this.#byId.get(id)
    if (lane === undefined) throw new Error(`the database has a job in lane ${id}, which is not there`)
    return lane
  }

  /** The lanes of a queue by name. */
  ofQueue(queue: string): ReadonlyMap<string, Lane> {
    return this.#byQueue.get(queue) ?? none
  }

  /** The lanes of a name by queue. */
  ofName(name: string): ReadonlyMap<string, Lane> {
    return this.#byName.get(name) ?? none
  }

  /** The lanes of a queue, of a name, of both, or all. */
  matching(queue: string | undefined, name: string | undefined): Iterable<Lane> {
    if (queue === undefined) return name === undefined ? this.#byId.values() : this.ofName(name).values()
    if (name === undefined) return this.ofQueue(queue).values()
    const lane = this.ofQueue(queue).get(name)
    return lane === undefined ? [] : [lane]
  }

  /** Makes a lane that has no jobs. */
  create(queue: string, name: string): Lane {
    const tally = states.words.map(() => 0)
    return this.add({ id: this.#lastId + 1, queue, name, tally, earliest: Infinity, latest: -Infinity })
  }

  /** Puts a lane in that has its number. */
  add(known: Omit<Lane, "delayedFrom">): Lane {
    const lane: Lane = { ...known, delayedFrom: -Infinity }
    this.#lastId = Math.max(this.#lastId, lane.id)
    this.#byId.set(lane.id, lane)
    nested(this.#byQueue, lane.queue).set(lane.name, lane)
    nested(this.#byName, lane.name).set(lane.queue, lane)
    return lane
  }

  /** Takes a lane out. */
  delete(lane: Lane): void {
    this.#byId.delete(lane.id)
    removeNested(this.#byQueue, lane.queue, lane.name)
    removeNested(this.#byName, lane.name, lane.queue)
  }
}

/** The sum of the lanes' tallies. */
export const sumTallies = (lanes: Iterable<Lane>): JobCounts => {
  const counts = noCounts()
  for (const lane of lanes) {
    for (const state of states.words) addTo(counts, state, tallyOf(lane, state))
  }
  return counts
}

const nested = (outer: Map<string, Map<string, Lane>>, key: string): Map<string, Lane> => {
  const found = outer.get(key)
  if (found !== undefined) return found
  const made = new Map<string, Lane>()
  outer.set(key, made)
  return made
}

const removeNested = (outer: Map<string, Map<string, Lane>>, key: string, inner: string): void => {
  const map = outer.get(key)
  map?.delete(inner)
  if (map?.size === 0) outer.delete(key)
}
