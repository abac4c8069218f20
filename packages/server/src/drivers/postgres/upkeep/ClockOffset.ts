/**
 * How far the clock of this machine is from the database's. Jobs live by the clocks of the servers: two that differ by a second make
 * leases a second shorter or longer between them, so a difference is measured, reported and warned of.
 */
import { Duration, Effect, Metric } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as LiveClock from "../../../LiveClock.ts"
import type { Sessions } from "../Connections.ts"

/** Milliseconds by which this machine is ahead of the database, give or take `uncertainty`: half of the round trip. */
export interface ClockOffset {
  readonly offset: number
  readonly uncertainty: number
}

/** The offset as it was last measured, in milliseconds. */
export const gauge = Metric.gauge("jobwire_clock_offset_ms", {
  description: "Milliseconds by which this server's clock is ahead of the database's"
})

const now = (): number => LiveClock.clock.currentTimeMillisUnsafe()

/** What the database's time, read between two times of this machine, says. */
export const between = (before: number, database: number, after: number): ClockOffset => ({
  offset: (before + after) / 2 - database,
  uncertainty: (after - before) / 2
})

/** Measures once. */
export const measure = (sessions: Sessions): Effect.Effect<ClockOffset, SqlError> =>
  sessions.use((session) =>
    Effect.suspend(() => {
      const before = now()
      return session
        .run("select extract(epoch from clock_timestamp())::float8 * 1000")
        .pipe(Effect.map((rows) => between(before, Number(rows[0]?.[0]), now())))
    })
  )

/** Whether the clocks are surely further apart than the limit. */
export const exceeds = ({ offset, uncertainty }: ClockOffset, limitMs: number): boolean =>
  Math.abs(offset) - uncertainty > limitMs

const report = (measured: ClockOffset, limitMs: number): Effect.Effect<void> => {
  const noted = Metric.update(gauge, measured.offset)
  if (!exceeds(measured, limitMs)) return noted
  const side = measured.offset > 0 ? "ahead of" : "behind"
  return Effect.andThen(
    noted,
    Effect.logWarning(
      `the clock of this server is ${Math.round(Math.abs(measured.offset))} ms ${side} the database's (limit ${limitMs} ms): leases ` +
        "and delays of servers whose clocks differ are shorter or longer by as much. Set the clock, or let NTP do it"
    )
  )
}

/** Measures now and every minute, until interrupted. A measurement that fails is left to the next. */
export const watch = (sessions: Sessions, limit: Duration.Input): Effect.Effect<never> => {
  const limitMs = Duration.toMillis(Duration.fromInputUnsafe(limit))
  return measure(sessions).pipe(
    Effect.flatMap((measured) => report(measured, limitMs)),
    Effect.catch((error) => Effect.logDebug("the offset to the database's clock could not be measured", error)),
    Effect.andThen(LiveClock.sleep("1 minute")),
    Effect.forever,
    LiveClock.withLive
  )
}
