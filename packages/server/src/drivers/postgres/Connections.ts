/**
 * The connections of one server: one pool for the statements of workers and producers, planned as a queue needs it, another
 * for lists and dashboards, where PostgreSQL's planner decides. Every connection is made ready once, by settings of its session.
 */
import { Duration, Effect, type Scope, Semaphore } from "effect"
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import * as PgPool from "@effect/sql-pg/PgPool"
import type { SqlError } from "effect/sql/SqlError"
import * as LiveClock from "../../LiveClock.ts"
import type { DatabaseOptions, PostgresOptions } from "./PostgresOptions.ts"
import { defaultSchema } from "./PostgresOptions.ts"

/** A row, by the position of its columns. */
export type Row = ReadonlyArray<unknown>

/** A session that belongs to its user for as long as it is lent. */
export interface Session {
  /**
   * Runs one prepared statement; outside a transaction it is one of its own. Several at once run in their order; where the session is
   * pipelined they are sent together.
   */
  readonly run: (sql: string, parameters?: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>, SqlError>
  /** Listens on a channel until the scope closes. */
  readonly listen: PgConnection["listen"]
  /** Which life of the database it belongs to: there is another after each start, and after each crash of a backend. */
  readonly life: string
}

/** A pool of sessions. */
export interface Sessions {
  /** Lends a session to this effect alone. */
  readonly use: <A, E, R>(work: (session: Session) => Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError, R>
}

/** Both pools. */
export interface Connections {
  readonly hot: Sessions
  readonly calm: Sessions
}

/** Settings of a session. */
export type Settings = Readonly<Record<string, string>>

// Statistics of a queue are always stale, so a planner that trusts them takes the wrong index sooner or later. With these it takes
// the index that a statement was written for, and plans once.
const hotSettings: Settings = {
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  plan_cache_mode: "force_generic_plan"
}

const microseconds = (time: string): string => `(extract(epoch from ${time}) * 1000000)::int8`

/**
 * The life of the database as SQL: it numbers its transactions anew after each crash. One that the postmaster survives, as when a
 * backend is killed, resets the statistics.
 */
export const life = `concat_ws('-', ${microseconds("pg_postmaster_start_time()")},
  (select ${microseconds("stats_reset")} from pg_stat_bgwriter))`

/** The size of a pool, and how its sessions send their statements. */
export interface PoolOptions {
  readonly min: number
  readonly max: number
  /** Sends statements without waiting for those before. One that has been sent is not cancelled when its caller goes away. */
  readonly pipelined?: boolean
}

/** A pool whose sessions have these settings beside the schema's search path. */
export const makeSessions = Effect.fnUntraced(function* (
  options: DatabaseOptions,
  settings: Settings,
  { max, min, pipelined = false }: PoolOptions
): Effect.fn.Return<Sessions, SqlError, Scope.Scope> {
  const pool = yield* PgPool.make({
    url: options.url,
    applicationName: "jobwire",
    keepAlive: "30 seconds",
    minConnections: min,
    maxConnections: max,
    multiplex: pipelined,
    // Each session has one user all the same.
    multiplexConcurrency: 1
  })
  const all: Settings = { search_path: `"${options.schema ?? defaultSchema}"`, ...settings }
  const names = Object.keys(all)
  const setAll = `select ${life}, ${names.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, false)`).join(", ")}`
  const ready = new WeakMap<PgConnection, Session>()
  const prepare = (connection: PgConnection): Effect.Effect<Session, SqlError> => {
    const found = ready.get(connection)
    if (found !== undefined) return Effect.succeed(found)
    return Effect.map(connection.queryValues(setAll, Object.entries(all).flat()), ([row]) => {
      const session: Session = { run: connection.queryValues, listen: connection.listen, life: String(row?.[0]) }
      ready.set(connection, session)
      return session
    })
  }
  return {
    use: (work) => pool.use((connection) => Effect.flatMap(prepare(connection), work))
  }
}, LiveClock.withLive)

/** The same pool; after each use it tells. */
export const observed = (sessions: Sessions, told: () => void): Sessions => ({
  use: (work) => Effect.tap(sessions.use(work), Effect.sync(told))
})

/** So many sessions of the same pool at most, so that others always find some. */
export const limited = (sessions: Sessions, most: number): Sessions => {
  const permits = Semaphore.makeUnsafe(most)
  return { use: (work) => permits.withPermit(sessions.use(work)) }
}

/** How many connections the hot pool of a server has at most. */
export const hotConnections = (options: PostgresOptions): number => options.hotConnections ?? 6

/** The pools of a server, for as long as the scope lives. */
export const make: (options: PostgresOptions) => Effect.Effect<Connections, SqlError, Scope.Scope> = Effect.fnUntraced(
  function* (options) {
    const timeout = Duration.toMillis(Duration.fromInputUnsafe(options.statementTimeout ?? "30 seconds"))
    const common: Settings = { statement_timeout: `${timeout}`, idle_in_transaction_session_timeout: `${2 * timeout}` }
    const hot = yield* makeSessions(
      options,
      { ...common, ...hotSettings },
      { min: 0, max: hotConnections(options), pipelined: true }
    )
    const calm = yield* makeSessions(options, common, { min: 0, max: options.calmConnections ?? 3 })
    return { hot, calm }
  }
)

/**
 * Runs the work in a transaction, which is kept when it succeeds and rolled back when it fails. READ COMMITTED unless `mode` says
 * otherwise. Uninterruptible: an answer that nobody waits for must not leave the outcome open.
 */
export const transaction = <A, E>(
  session: Session,
  work: Effect.Effect<A, E>,
  mode: "" | "isolation level repeatable read, read only" = ""
): Effect.Effect<A, E | SqlError> =>
  Effect.uninterruptible(
    session.run(mode === "" ? "begin" : `begin ${mode}`).pipe(
      Effect.andThen(Effect.tapCause(work, () => Effect.ignore(session.run("rollback")))),
      Effect.tap(() => session.run("commit"))
    )
  )
