/** All jobs in the orders that a list can ask for. */
import { isTerminal } from "@jobwire/protocol"
import type { JobRow } from "../../core/JobRow.ts"
import { compareText, orderValue } from "../../core/Order.ts"
import type { JobQuery } from "../embedded/Tables.ts"
import { byEnqueuedAt, byFinishedAt, byRunAt, type JobIndex, type JobSlot, type MakeIndex } from "./JobSlot.ts"
import type { Compare } from "./OrderedIndex.ts"

/** One index an order. That of `finishedAt` has the finished jobs only, so that a job in the works costs it nothing. */
export class JobLists {
  readonly #enqueuedAt: JobIndex
  readonly #runAt: JobIndex
  readonly #finishedAt: JobIndex

  constructor(makeIndex: MakeIndex) {
    this.#enqueuedAt = makeIndex(byEnqueuedAt)
    this.#runAt = makeIndex(byRunAt)
    this.#finishedAt = makeIndex(byFinishedAt)
  }

  add(slot: JobSlot): void {
    this.#enqueuedAt.add(slot)
    this.#runAt.add(slot)
    if (isFinished(slot)) this.#finishedAt.add(slot)
  }

  delete(slot: JobSlot): void {
    this.#enqueuedAt.delete(slot)
    this.#runAt.delete(slot)
    if (isFinished(slot)) this.#finishedAt.delete(slot)
  }

  /** Gives the slot its new row; it moves in the orders in which that row stands elsewhere. */
  write(slot: JobSlot, after: JobRow): void {
    const runs = slot.row.runAt !== after.runAt
    const finishes = slot.row.finishedAt !== after.finishedAt
    if (runs) this.#runAt.delete(slot)
    if (finishes && isFinished(slot)) this.#finishedAt.delete(slot)
    slot.row = after
    if (runs) this.#runAt.add(slot)
    if (finishes && isFinished(slot)) this.#finishedAt.add(slot)
  }

  *scan(query: JobQuery): IterableIterator<JobRow> {
    for (const { row } of this.#slots(query)) if (matches(row, query)) yield row
  }

  #slots(query: JobQuery): Iterable<JobSlot> {
    switch (query.orderBy) {
      case "enqueuedAt":
        return walk(this.#enqueuedAt, query)
      case "runAt":
        return walk(this.#runAt, query)
      case "finishedAt":
        return query.states?.every(isTerminal) === true
          ? walk(this.#finishedAt, query)
          : merge(walk(this.#finishedAt, query), this.#unfinished(query), directed(query, byFinishedAt))
    }
  }

  // Few ask for jobs in the works by when they finished, so that order is made when somebody does.
  #unfinished(query: JobQuery): Iterable<JobSlot> {
    const isWanted = query.order === "asc" ? (slot: JobSlot) => !isUpTo(query)(slot) : isBelow(query)
    return Array.from(this.#enqueuedAt.ascending())
      .filter((slot) => !isFinished(slot) && isWanted(slot))
      .toSorted(directed(query, byFinishedAt))
  }
}

const isFinished = ({ row }: JobSlot): boolean => row.finishedAt !== undefined

const walk = (index: JobIndex, query: JobQuery): Iterable<JobSlot> =>
  query.order === "asc" ? index.ascending(isUpTo(query)) : index.descending(isBelow(query))

const directed =
  ({ order }: JobQuery, compare: Compare<JobSlot>): Compare<JobSlot> =>
  (one, other) =>
    order === "asc" ? compare(one, other) : compare(other, one)

// Where a row stands relative to the end of the page before.
const fromPosition = ({ after, orderBy }: JobQuery, { row }: JobSlot): number =>
  after === undefined ? 0 : orderValue(row, orderBy) - after.value || compareText(row.id, after.id)

const isUpTo = (query: JobQuery) => (slot: JobSlot) => query.after !== undefined && fromPosition(query, slot) <= 0

const isBelow = (query: JobQuery) => (slot: JobSlot) => query.after === undefined || fromPosition(query, slot) < 0

function* merge<A>(one: Iterable<A>, other: Iterable<A>, compare: Compare<A>): IterableIterator<A> {
  const others = other[Symbol.iterator]()
  let next = others.next()
  for (const item of one) {
    for (; next.done !== true && compare(next.value, item) < 0; next = others.next()) yield next.value
    yield item
  }
  for (; next.done !== true; next = others.next()) yield next.value
}

const matches = (row: JobRow, query: JobQuery): boolean =>
  (query.queue === undefined || row.queue === query.queue) &&
  (query.name === undefined || row.name === query.name) &&
  (query.states === undefined || query.states.includes(row.state)) &&
  (query.metadata === undefined || hasEntries(row.metadata, query.metadata))

const hasEntries = (metadata: JobRow["metadata"], wanted: JobRow["metadata"]): boolean =>
  Object.entries(wanted).every(([key, value]) => Object.hasOwn(metadata, key) && metadata[key] === value)
