/**
 * What of one store is kept in memory: its lanes and its next number. A transaction gathers the changes here and writes
 * them once, at its end; when it is rolled back, the state is forgotten and read anew.
 */
import { type JobState } from "@jobwire/protocol"
import type { DatabaseSync } from "node:sqlite"
import { states } from "../columns/Codes.ts"
import { type Lane, Lanes } from "./Lanes.ts"
import { prepare, type Statement } from "./Statement.ts"

type LaneTuple = [id: number, queue: string, name: string, earliest: number, latest: number, ...tally: Array<number>]

// So many numbers are reserved at a time; a restart skips what is left of them.
const reservedNumbers = 1024

/** The statements about stores and lanes. */
export interface StateSql {
  readonly nextNumber: Statement<[number]>
  readonly reserve: Statement
  readonly lanes: Statement<LaneTuple>
  readonly saveLane: Statement
  readonly deleteLane: Statement
}

export const prepareState = (db: DatabaseSync): StateSql => ({
  nextNumber: prepare(db, "select next_number from store where store = ?"),
  reserve: prepare(db, "update store set next_number = ?2 where store = ?1"),
  lanes: prepare(
    db,
    `select lane, queue, name, earliest, latest, waiting, delayed, active, waiting_children, completed, failed, cancelled
     from lane where store = ?`
  ),
  saveLane: prepare(
    db,
    `insert into lane
       (store, lane, queue, name, earliest, latest,
        waiting, delayed, active, waiting_children, completed, failed, cancelled)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (store, lane) do update set
       earliest = excluded.earliest, latest = excluded.latest,
       waiting = excluded.waiting, delayed = excluded.delayed, active = excluded.active,
       waiting_children = excluded.waiting_children, completed = excluded.completed, failed = excluded.failed,
       cancelled = excluded.cancelled`
  ),
  // Rows need their lane for their names, so a lane is deleted only when the index agrees with the tally.
  deleteLane: prepare(
    db,
    `delete from lane where store = ?1 and lane = ?2
     and not exists (select 1 from status where store = ?1 and lane = ?2)`
  )
})

/** The state of one store. */
export class StoreState {
  readonly id: number
  readonly #sql: StateSql
  /** The states that the open transaction has changed. */
  readonly #changed: Set<StoreState>
  #lanes: Lanes | undefined
  readonly #changedLanes = new Set<Lane>()
  #next = 0
  #reservedUntil = 0
  #reservedMore = false

  constructor(id: number, sql: StateSql, changed: Set<StoreState>) {
    this.id = id
    this.#sql = sql
    this.#changed = changed
  }

  /** The store's lanes. */
  get lanes(): Lanes {
    return this.#lanes ?? this.#load()
  }

  /** The next number: greater than all before, also across restarts. */
  next(): number {
    if (this.#lanes === undefined) this.#load()
    if (this.#next >= this.#reservedUntil) {
      this.#reservedUntil = this.#next + reservedNumbers
      this.#reservedMore = true
      this.#changed.add(this)
    }
    return this.#next++
  }

  /** The lane of a queue and name, which is made when it is new. */
  laneFor(queue: string, name: string): Lane {
    return this.lanes.ofQueue(queue).get(name) ?? this.lanes.create(queue, name)
  }

  /** Counts a job into a state of the lane, or out of it. */
  count(lane: Lane, state: JobState, by: 1 | -1): void {
    const code = states.code(state)
    lane.tally[code] = (lane.tally[code] ?? 0) + by
    this.#changedLanes.add(lane)
    this.#changed.add(this)
  }

  /** Writes what the transaction has changed. */
  save(): void {
    if (this.#reservedMore) this.#sql.reserve.run(this.id, this.#reservedUntil)
    this.#reservedMore = false
    for (const lane of this.#changedLanes) {
      if (lane.tally.some((jobs) => jobs !== 0)) {
        const { earliest, id, latest, name, queue, tally } = lane
        this.#sql.saveLane.run(this.id, id, queue, name, earliest, latest, ...tally)
      } else if (this.#sql.deleteLane.run(this.id, lane.id).changes === 1) {
        this.lanes.delete(lane)
      }
    }
    this.#changedLanes.clear()
  }

  /** Forgets everything: the transaction that changed it was rolled back. */
  forget(): void {
    this.#lanes = undefined
    this.#changedLanes.clear()
    this.#reservedMore = false
  }

  #load(): Lanes {
    const lanes = new Lanes()
    for (const [id, queue, name, earliest, latest, ...tally] of this.#sql.lanes.all(this.id)) {
      lanes.add({ id, queue, name, tally, earliest, latest })
    }
    // The store has its row since it was made.
    this.#next = this.#sql.nextNumber.get(this.id)?.[0] as number
    this.#reservedUntil = this.#next
    this.#lanes = lanes
    return lanes
  }
}
