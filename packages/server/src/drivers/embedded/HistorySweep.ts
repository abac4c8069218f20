/** The timed part of retention: finished jobs over the store's ceiling, and dedupe keys whose window is over. */
import { TerminalState } from "@jobwire/protocol"
import { Array as Arr, type Duration, Effect } from "effect"
import { isOver } from "../../core/Dedupe.ts"
import type { Position } from "../../core/Order.ts"
import { takePage } from "../../core/Page.ts"
import { type HistoryTtl, isExpired } from "../../core/Retention.ts"
import { forgetJob } from "./Apply.ts"
import type { Engine } from "./Engine.ts"
import type { Tables } from "./Tables.ts"

// Few enough that a sweep holds up nobody for long: it reads and deletes so many at a time, and others come in between.
const mostAtOnce = 1000

/** Sweeps again and again, until interrupted. A sweep that fails is logged, and the next one tries again. */
export const forever = (engine: Engine, ttl: HistoryTtl | undefined, interval: Duration.Input): Effect.Effect<never> =>
  sweep(engine, ttl).pipe(
    Effect.catch((error) => Effect.logWarning("the sweep of finished jobs failed", error)),
    Effect.delay(interval),
    Effect.forever
  )

const sweep = Effect.fnUntraced(function* (engine: Engine, ttl: HistoryTtl | undefined) {
  if (ttl !== undefined) yield* sweepHistory(engine, ttl)
  yield* sweepDedupes(engine)
})

const sweepHistory = Effect.fnUntraced(function* (engine: Engine, ttl: HistoryTtl) {
  let position: Position | undefined
  do {
    const from = position
    const page = yield* engine.read((tables, now) => expiredFrom(tables, from, ttl, now))
    yield* engine.write(({ now, tables }) => {
      for (const id of page.expired) {
        const row = tables.jobs.get(id)
        // Another may have retried it since.
        if (row !== undefined && isExpired(row, ttl, now)) forgetJob(tables, row, now)
      }
    })
    position = page.next
    yield* Effect.yieldNow
  } while (position !== undefined)
})

const expiredFrom = (tables: Tables, after: Position | undefined, ttl: HistoryTtl, now: number) => {
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
    expired: items.filter((row) => isExpired(row, ttl, now)).map(({ id }) => id),
    next: more && last !== undefined ? { value: last.finishedAt ?? 0, id: last.id } : undefined
  }
}

const sweepDedupes = Effect.fnUntraced(function* (engine: Engine) {
  const over = yield* engine.read((tables, now) =>
    Array.from(tables.dedupes.all()).filter((entry) => isOver(entry, now))
  )
  for (const entries of Arr.chunksOf(over, mostAtOnce)) {
    yield* engine.write(({ now, tables }) => {
      for (const { key, name } of entries) {
        const entry = tables.dedupes.get(name, key)
        if (entry !== undefined && isOver(entry, now)) tables.dedupes.delete(name, key)
      }
    })
  }
})
