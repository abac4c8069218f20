/**
 * Folding the changes of the counts into the tally. Writers only append, so that none waits for another; here the appended rows are
 * added up, now and then, by one server at a time. Reading counts adds what is not folded yet.
 */
import { Effect, Latch, type Scope } from "effect"
import * as LiveClock from "../../../LiveClock.ts"
import type { Sessions } from "../Connections.ts"
import { tallyColumns as columns } from "../look/Counts.ts"

// So many rows a statement, which keeps it short.
const mostRows = 20_000

const sql = `
  with taken as materialized (
    select ctid from tally_change where (select pg_try_advisory_xact_lock(hashtextextended('jobwire fold', 0))) limit ${mostRows}
  ), gone as (
    delete from tally_change where ctid = any (array(select ctid from taken)) returning *
  ), sums as (
    select store, lane, ${columns.map((column) => `sum(${column})::int8 as ${column}`).join(", ")}
    from gone group by store, lane
  ), folded as (
    insert into tally (store, lane, ${columns.join(", ")})
    select store, lane, ${columns.join(", ")} from sums order by store, lane
    on conflict (store, lane) do update set ${columns.map((column) => `${column} = tally.${column} + excluded.${column}`).join(", ")}
  )
  select count(*)::float8 from gone`

/** Told of changes, it folds them within about a second. */
export interface TallyFolding {
  /** Says that this server has appended changes. */
  readonly changed: () => void
}

/** Folds once; answers how many rows. */
export const fold = (sessions: Sessions) =>
  sessions.use((session) => Effect.map(session.run(sql), (rows) => Number(rows[0]?.[0])))

/** Folds what this server appends, for as long as the scope lives, and once at the start what others may have left. */
export const make = (sessions: Sessions): Effect.Effect<TallyFolding, never, Scope.Scope> =>
  Effect.gen(function* () {
    const told = Latch.makeUnsafe(true)
    // A fold that fails leaves the rows to the next.
    const foldAll: Effect.Effect<void> = Effect.flatMap(
      Effect.orElseSucceed(fold(sessions), () => 0),
      (rows) => (rows === mostRows ? foldAll : Effect.void)
    )
    const round = told.await.pipe(
      Effect.andThen(Effect.sync(() => told.closeUnsafe())),
      Effect.andThen(foldAll),
      Effect.andThen(LiveClock.sleep("1 second"))
    )
    yield* Effect.forkScoped(LiveClock.withLive(Effect.forever(round)))
    return { changed: () => void told.openUnsafe() }
  })
