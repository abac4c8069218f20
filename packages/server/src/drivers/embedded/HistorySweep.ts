/** The timed part of retention: finished jobs over the store's ceiling, dedupe keys whose window is over, and receipts. */
import { type JobStoreError, TerminalState } from "@jobwire/protocol"
import { Array as Arr, Clock, type Duration, Effect } from "effect"
import { isOver } from "../../core/Dedupe.ts"
import type { DedupeRow } from "../../core/JobRow.ts"
import type { Position } from "../../core/Order.ts"
import { takePage } from "../../core/Page.ts"
import { holds } from "../../core/Receipt.ts"
import { type HistoryTtl, isExpired } from "../../core/Retention.ts"
import { forgetJob } from "./Apply.ts"
import type { Engine } from "./Engine.ts"
import type { Tables } from "./Tables.ts"

/** Few enough that a sweep holds up nobody for long: it reads and deletes so many at a time, and others come in between. */
export const mostAtOnce = 1000

/** A portion of what is over, and where to look on; without a position that was all. */
export interface Expired {
  /** The ids of finished jobs. */
  readonly ids: ReadonlyArray<string>
  readonly next: Position | undefined
}

/** Looks for what is over. What it finds is judged again before it goes, so it may find too much. */
export interface Finder {
  readonly expired: (ttl: HistoryTtl, after: Position | undefined, now: number) => Effect.Effect<Expired, JobStoreError>
  readonly receipts: (now: number) => Effect.Effect<ReadonlyArray<string>, JobStoreError>
  readonly dedupes: (now: number) => Effect.Effect<ReadonlyArray<Pick<DedupeRow, "name" | "key">>, JobStoreError>
}

/** Walks over the tables. */
export const walk = (engine: Engine): Finder => ({
  expired: (ttl, after, now) => engine.read((tables) => expiredFrom(tables, after, ttl, now)),
  receipts: (now) => engine.read((tables) => tables.receipts.expired(now, mostAtOnce)),
  dedupes: (now) =>
    engine.read((tables) => Array.from(tables.dedupes.all()).filter((entry) => isOverIn(tables, entry, now)))
})

const isOverIn = (tables: Tables, entry: DedupeRow, now: number): boolean =>
  isOver(entry, tables.jobs.get(entry.jobId), now)

/** Sweeps again and again, until interrupted. A sweep that fails is logged, and the next one tries again. */
export const forever = (
  engine: Engine,
  ttl: HistoryTtl | undefined,
  interval: Duration.Input,
  finder: Finder = walk(engine)
): Effect.Effect<never> =>
  sweep(engine, ttl, finder).pipe(
    Effect.catch((error) => Effect.logWarning("the sweep of finished jobs failed", error)),
    Effect.delay(interval),
    Effect.forever
  )

const sweep = Effect.fnUntraced(function* (engine: Engine, ttl: HistoryTtl | undefined, finder: Finder) {
  if (ttl !== undefined) yield* sweepHistory(engine, ttl, finder)
  yield* sweepDedupes(engine, finder)
  yield* sweepReceipts(engine, finder)
})

const sweepHistory = Effect.fnUntraced(function* (engine: Engine, ttl: HistoryTtl, finder: Finder) {
  let position: Position | undefined
  do {
    const { ids, next } = yield* finder.expired(ttl, position, yield* Clock.currentTimeMillis)
    yield* engine.write(({ now, tables }) => {
      for (const id of ids) {
        const row = tables.jobs.get(id)
        // Another may have retried it since.
        if (row !== undefined && isExpired(row, ttl, now)) forgetJob(tables, row, now)
      }
    })
    position = next
    yield* Effect.yieldNow
  } while (position !== undefined)
})

const expiredFrom = (tables: Tables, after: Position | undefined, ttl: HistoryTtl, now: number): Expired => {
  const rows = tables.jobs.scan({
    queue: undefined,
    name: undefined,
    states: TerminalState.literals,
    metadata: undefined,
    orderBy: "finishedAt",
    order: "asc",
    after
  })
  const { items, more } = takePage(rows, { length: mostAtOnce, bytes: Infinity }, () => 0)
  const last = items.at(-1)
  return {
    ids: items.filter((row) => isExpired(row, ttl, now)).map(({ id }) => id),
    next: more && last !== undefined ? { value: last.finishedAt ?? 0, id: last.id } : undefined
  }
}

const sweepDedupes = Effect.fnUntraced(function* (engine: Engine, finder: Finder) {
  const over = yield* finder.dedupes(yield* Clock.currentTimeMillis)
  for (const entries of Arr.chunksOf(over, mostAtOnce)) {
    yield* engine.write(({ now, tables }) => {
      for (const { key, name } of entries) {
        const entry = tables.dedupes.get(name, key)
        if (entry !== undefined && isOverIn(tables, entry, now)) tables.dedupes.delete(name, key)
      }
    })
  }
})

const sweepReceipts = Effect.fnUntraced(function* (engine: Engine, finder: Finder) {
  let length: number
  do {
    const keys = yield* finder.receipts(yield* Clock.currentTimeMillis)
    length = keys.length
    if (length > 0)
      yield* engine.write(({ now, tables }) => {
        // A job of the same id may have been deleted since, and be remembered anew.
        for (const key of keys) if (!holds(tables.receipts.get(key), now)) tables.receipts.delete(key)
      })
    yield* Effect.yieldNow
  } while (length === mostAtOnce)
})
