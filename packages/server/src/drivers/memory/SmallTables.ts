/** The small tables in memory: dedupe keys, pauses, schedules, the outbox, receipts. */
import type { ScheduleFilter, ScheduleRecord } from "@jobwire/protocol"
import type { DedupeRow, OutboxDraft, OutboxRow } from "../../core/JobRow.ts"
import { fromText, toText } from "../../core/JsonText.ts"
import { compareText } from "../../core/Order.ts"
import type { ReceiptRow } from "../../core/Receipt.ts"
import type { DedupeTable, OutboxTable, PauseTable, ReceiptTable, ScheduleTable } from "../embedded/Tables.ts"
import type { MakeIndex } from "./JobSlot.ts"
import type { OrderedIndex } from "./OrderedIndex.ts"

// No name contains a NUL character.
const dedupeKey = (name: string, key: string): string => `${name}\u0000${key}`

/** See `DedupeTable`. */
export class MemoryDedupes implements DedupeTable {
  readonly #rows = new Map<string, DedupeRow>()

  get(name: string, key: string): DedupeRow | undefined {
    return this.#rows.get(dedupeKey(name, key))
  }

  put(row: DedupeRow): void {
    this.#rows.set(dedupeKey(row.name, row.key), row)
  }

  delete(name: string, key: string): void {
    this.#rows.delete(dedupeKey(name, key))
  }

  all(): Iterable<DedupeRow> {
    return this.#rows.values()
  }
}

/** See `PauseTable`. */
export class MemoryPauses implements PauseTable {
  readonly #queues = new Set<string>()

  has(queue: string): boolean {
    return this.#queues.has(queue)
  }

  add(queue: string): boolean {
    const isNew = !this.#queues.has(queue)
    this.#queues.add(queue)
    return isNew
  }

  delete(queue: string): boolean {
    return this.#queues.delete(queue)
  }

  list(): ReadonlyArray<string> {
    return Array.from(this.#queues).toSorted(compareText)
  }
}

// The payload goes through JSON, as it does in a job.
const copy = (schedule: ScheduleRecord): ScheduleRecord => ({
  ...structuredClone({ ...schedule, payload: undefined }),
  payload: fromText(toText(schedule.payload))
})

/** See `ScheduleTable`. Records are copied in and out, so that nobody shares them with the store. */
export class MemorySchedules implements ScheduleTable {
  readonly #records = new Map<string, ScheduleRecord>()

  get(key: string): ScheduleRecord | undefined {
    const record = this.#records.get(key)
    return record === undefined ? undefined : copy(record)
  }

  put(schedule: ScheduleRecord): void {
    this.#records.set(schedule.key, copy(schedule))
  }

  delete(key: string): boolean {
    return this.#records.delete(key)
  }

  list({ group, jobName, queue }: ScheduleFilter): ReadonlyArray<ScheduleRecord> {
    return this.#select(
      (schedule) =>
        (jobName === undefined || schedule.jobName === jobName) &&
        (queue === undefined || schedule.queue === queue) &&
        (group === undefined || schedule.group === group)
    )
  }

  due(now: number): ReadonlyArray<ScheduleRecord> {
    return this.#select((schedule) => schedule.nextRunAt <= now).toSorted(
      (one, other) => one.nextRunAt - other.nextRunAt
    )
  }

  #select(isWanted: (schedule: ScheduleRecord) => boolean): Array<ScheduleRecord> {
    return Array.from(this.#records.values())
      .filter(isWanted)
      .toSorted((one, other) => compareText(one.key, other.key))
      .map(copy)
  }
}

/** See `ReceiptTable`. */
export class MemoryReceipts implements ReceiptTable {
  readonly #rows = new Map<string, ReceiptRow>()
  readonly #byEnd: OrderedIndex<ReceiptRow>

  constructor(makeIndex: MakeIndex) {
    this.#byEnd = makeIndex((one, other) => one.expiresAt - other.expiresAt || compareText(one.key, other.key))
  }

  get(key: string): ReceiptRow | undefined {
    return this.#rows.get(key)
  }

  put(row: ReceiptRow): void {
    this.delete(row.key)
    this.#rows.set(row.key, row)
    this.#byEnd.add(row)
  }

  delete(key: string): void {
    const row = this.#rows.get(key)
    if (row === undefined) return
    this.#rows.delete(key)
    this.#byEnd.delete(row)
  }

  expired(now: number, limit: number): ReadonlyArray<string> {
    const keys: Array<string> = []
    for (const row of this.#byEnd.ascending()) {
      if (row.expiresAt > now || keys.length === limit) break
      keys.push(row.key)
    }
    return keys
  }
}

/** See `OutboxTable`. */
export class MemoryOutbox implements OutboxTable {
  readonly #rows: OrderedIndex<OutboxRow>
  readonly #bySeq = new Map<number, OutboxRow>()
  #last = 0

  constructor(makeIndex: MakeIndex) {
    this.#rows = makeIndex((one, other) => one.seq - other.seq)
  }

  append(draft: OutboxDraft): void {
    const row = { ...draft, seq: ++this.#last }
    this.#rows.add(row)
    this.#bySeq.set(row.seq, row)
  }

  list(afterSeq: number): Iterable<OutboxRow> {
    return this.#rows.ascending((row) => row.seq <= afterSeq)
  }

  delete(seqs: ReadonlyArray<number>): void {
    for (const seq of seqs) {
      const row = this.#bySeq.get(seq)
      if (row === undefined) continue
      this.#rows.delete(row)
      this.#bySeq.delete(seq)
    }
  }
}
