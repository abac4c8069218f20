/** The timed part of retention: finished jobs over the store's ceiling, and dedupe keys that hold nothing off any more. */
import { type Duration, Effect } from "effect"
import { isDead } from "../../core/Dedupe.ts"
import { type HistoryTtl, isExpired } from "../../core/Retention.ts"
import { forgetJob } from "./Apply.ts"
import type { Engine, Unit } from "./Engine.ts"

// Few enough that a sweep holds up nobody for long; what is left over goes in the next unit of the same sweep.
const mostInOneUnit = 1000

/** Sweeps again and again, until interrupted. A sweep that fails is logged, and the next one tries again. */
export const forever = (engine: Engine, ttl: HistoryTtl | undefined, interval: Duration.Input): Effect.Effect<never> =>
  sweep(engine, ttl).pipe(
    Effect.catch((error) => Effect.logWarning("the sweep of finished jobs failed", error)),
    Effect.delay(interval),
    Effect.forever
  )

/** One sweep of everything that is over now. */
export const sweep = Effect.fnUntraced(function* (engine: Engine, ttl: HistoryTtl | undefined) {
  if (ttl !== undefined) {
    while ((yield* engine.write((unit) => forgetExpired(unit, ttl))) === mostInOneUnit);
  }
  yield* engine.write(forgetDedupes)
})

const forgetExpired = ({ now, tables }: Unit, ttl: HistoryTtl): number => {
  const expired = []
  for (const row of tables.history.all()) {
    if (!isExpired(row, ttl, now) || (row.flow !== undefined && tables.children.owesCascade(row.id))) continue
    expired.push(row)
    if (expired.length === mostInOneUnit) break
  }
  for (const row of expired) forgetJob(tables, row, now)
  return expired.length
}

const forgetDedupes = ({ now, tables }: Unit): void => {
  const dead = Array.from(tables.dedupes.all()).filter((entry) => isDead(entry, tables.jobs.get(entry.jobId), now))
  for (const entry of dead) tables.dedupes.delete(entry.name, entry.key)
}
