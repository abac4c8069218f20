/** The layouts of the schema, one after another: numbered, applied once, never undone, by whoever may. */
import type { JobStoreError } from "@jobwire/protocol"
import { Clock, Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { makeSessions, type Session, transaction } from "./Connections.ts"
import * as tables from "./migrations/0001_tables.ts"
import * as receipts from "./migrations/0002_receipts.ts"
import { driverFault, fromSql, sqlState } from "./PostgresFault.ts"
import type { DatabaseOptions } from "./PostgresOptions.ts"
import * as SchemaName from "./SchemaName.ts"

/** One step from a layout to the next. */
export interface Migration {
  /** One more than the step before. */
  readonly version: number
  readonly name: string
  /** One statement each, run in one transaction. */
  readonly sql: ReadonlyArray<string>
}

/** Every step; a step that was published is never changed. */
export const migrations: ReadonlyArray<Migration> = [
  { version: 1, name: "tables", sql: tables.sql },
  { version: 2, name: "receipts", sql: receipts.sql }
]

/** What a schema has, and what this version of Jobwire needs. */
export interface SchemaVersion {
  readonly schema: string
  /** 0 when there is none. */
  readonly current: number
  readonly needed: number
}

const newest = (steps: ReadonlyArray<Migration>): number => steps.at(-1)?.version ?? 0

// Unknown schema, unknown table.
const absent = new Set(["3F000", "42P01"])

// With the schema's name: without the right to use a schema, a table that is looked for along the path only seems to be missing.
const currentVersion = (session: Session, schema: string): Effect.Effect<number, SqlError> =>
  session.run(`select coalesce(max(version), 0) from ${SchemaName.quoted(schema)}.migration`).pipe(
    Effect.map((rows) => Number(rows[0]?.[0])),
    Effect.catchIf(
      (error) => absent.has(sqlState(error) ?? ""),
      () => Effect.succeed(0)
    )
  )

/** The version of the schema. */
export const version = (session: Session, schema: string, steps = migrations): Effect.Effect<SchemaVersion, SqlError> =>
  Effect.map(currentVersion(session, schema), (current) => ({ schema, current, needed: newest(steps) }))

/** Refuses a schema that is not the one this version needs, and says what to do. */
export const refuse = ({ current, needed, schema }: SchemaVersion): Effect.Effect<void, JobStoreError> => {
  const name = JSON.stringify(schema)
  if (current === needed) return Effect.void
  if (current > needed) {
    return Effect.fail(
      driverFault(
        `the schema ${name} has version ${current}, and this version of Jobwire knows up to ${needed}: a newer Jobwire has ` +
          "changed it. Use that version or a later one, or another schema",
        false
      )
    )
  }
  const has =
    current === 0 ? `there is no Jobwire schema ${name} in this database` : `the schema ${name} has version ${current}`
  return Effect.fail(
    driverFault(
      `${has}, and this version of Jobwire needs version ${needed}: run \`jobwire migrate\` with a role that may change it`,
      false
    )
  )
}

/** Waits for whoever else changes this schema; held to the end of the transaction. */
export const lock = (session: Session, schema: string) =>
  session.run("select pg_advisory_xact_lock(hashtextextended($1, 0))", [`jobwire migrate ${schema}`])

// Asked first, because `if not exists` wants the right to create schemas even where there is nothing to create.
const createSchema = Effect.fnUntraced(function* (session: Session, schema: string) {
  const found = yield* session.run("select 1 from pg_namespace where nspname = $1", [schema])
  if (found.length === 0) yield* session.run(`create schema ${SchemaName.quoted(schema)}`)
})

// One lock a schema: of several that start together one applies a step, and the others find it applied.
const applyStep = Effect.fnUntraced(function* (session: Session, schema: string, step: Migration, now: number) {
  yield* lock(session, schema)
  yield* createSchema(session, schema)
  yield* session.run(
    "create table if not exists migration (version int4 primary key, name text not null, applied_at float8 not null)"
  )
  if ((yield* currentVersion(session, schema)) >= step.version) return false
  for (const statement of step.sql) yield* session.run(statement)
  yield* session.run("insert into migration (version, name, applied_at) values ($1::int4, $2, $3::float8)", [
    step.version,
    step.name,
    now
  ])
  return true
})

/** Brings the schema to the newest layout; answers the steps that this call applied. Refuses a schema that is newer. */
export const migrate: (
  options: DatabaseOptions,
  steps?: ReadonlyArray<Migration>
) => Effect.Effect<ReadonlyArray<Migration>, JobStoreError> = Effect.fnUntraced(
  function* (options, steps = migrations) {
    const schema = yield* SchemaName.of(options)
    const now = yield* Clock.currentTimeMillis
    const sessions = yield* makeSessions(options, {}, { min: 0, max: 1 })
    const found = yield* sessions.use((session) => version(session, schema, steps))
    if (found.current > found.needed) yield* refuse(found)
    const applied: Array<Migration> = []
    for (const step of steps.filter((step) => step.version > found.current)) {
      const isNew = yield* sessions.use((session) => transaction(session, applyStep(session, schema, step, now)))
      if (isNew) applied.push(step)
    }
    return applied
  },
  Effect.scoped,
  Effect.catchTag("SqlError", (error) => Effect.fail(fromSql(error)))
)

/** What the schema has and what it needs, without changing anything. */
export const check: (options: DatabaseOptions) => Effect.Effect<SchemaVersion, JobStoreError> = Effect.fnUntraced(
  function* (options) {
    const schema = yield* SchemaName.of(options)
    const sessions = yield* makeSessions(options, {}, { min: 0, max: 1 })
    return yield* sessions.use((session) => version(session, schema))
  },
  Effect.scoped,
  Effect.catchTag("SqlError", (error) => Effect.fail(fromSql(error)))
)
