/** All jobs in the orders that a list can ask for. */
import type { JobRow } from "../../core/JobRow.ts"
import { compareText, type OrderBy, orderValue } from "../../core/Order.ts"
import type { JobQuery } from "../embedded/Tables.ts"
import { byValue, type JobIndex, type JobSlot, type MakeIndex } from "./JobSlot.ts"

const orders: ReadonlyArray<OrderBy> = ["enqueuedAt", "runAt", "finishedAt"]

/** One index an order. */
export class JobLists {
  readonly #indexes: Readonly<Record<OrderBy, JobIndex>>

  constructor(makeIndex: MakeIndex) {
    this.#indexes = {
      enqueuedAt: makeIndex(byValue("enqueuedAt")),
      runAt: makeIndex(byValue("runAt")),
      finishedAt: makeIndex(byValue("finishedAt"))
    }
  }

  add(slot: JobSlot): void {
    for (const order of orders) this.#indexes[order].add(slot)
  }

  delete(slot: JobSlot): void {
    for (const order of orders) this.#indexes[order].delete(slot)
  }

  /** Gives the slot its new row; it moves in the orders in which that row stands elsewhere. */
  write(slot: JobSlot, after: JobRow): void {
    const { finishedAt, runAt } = this.#indexes
    const runs = slot.row.runAt !== after.runAt
    const finishes = slot.row.finishedAt !== after.finishedAt
    if (runs) runAt.delete(slot)
    if (finishes) finishedAt.delete(slot)
    slot.row = after
    if (runs) runAt.add(slot)
    if (finishes) finishedAt.add(slot)
  }

  *scan(query: JobQuery): IterableIterator<JobRow> {
    const index = this.#indexes[query.orderBy]
    const slots = query.order === "asc" ? index.ascending(upTo(query)) : index.descending(below(query))
    for (const { row } of slots) if (matches(row, query)) yield row
  }
}

// Where a row stands relative to the end of the page before.
const fromPosition = ({ after, orderBy }: JobQuery, { row }: JobSlot): number =>
  after === undefined ? 0 : orderValue(row, orderBy) - after.value || compareText(row.id, after.id)

const upTo = (query: JobQuery) => (slot: JobSlot) => query.after !== undefined && fromPosition(query, slot) <= 0

const below = (query: JobQuery) => (slot: JobSlot) => query.after === undefined || fromPosition(query, slot) < 0

const matches = (row: JobRow, query: JobQuery): boolean =>
  (query.queue === undefined || row.queue === query.queue) &&
  (query.name === undefined || row.name === query.name) &&
  (query.states === undefined || query.states.includes(row.state)) &&
  (query.metadata === undefined || hasEntries(row.metadata, query.metadata))

const hasEntries = (metadata: JobRow["metadata"], wanted: JobRow["metadata"]): boolean =>
  Object.entries(wanted).every(([key, value]) => Object.hasOwn(metadata, key) && metadata[key] === value)
