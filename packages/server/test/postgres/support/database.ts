/** The database of the test run, beside the driver. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { PostgresJobStore } from "@jobwire/server/postgres"
import { Effect, Redacted, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { randomUUID } from "node:crypto"
import { databaseUrl } from "../../../../../test/support/fresh-postgres.ts"
import * as LiveClock from "../../../src/LiveClock.ts"

/** Runs one statement on a connection of its own, in Jobwire's schema. */
export const query = (
  sql: string,
  parameters: ReadonlyArray<unknown> = [],
  url: Redacted.Redacted = databaseUrl()
): Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError> =>
  PgConnection.make({ url, startupParameters: { search_path: "jobwire" } }).pipe(
    Effect.flatMap((connection) => connection.queryValues(sql, parameters)),
    Effect.scoped,
    LiveClock.withLive
  )

/** The number of the store with this name among those of the tests. */
export const numberOf = (store: string, url?: Redacted.Redacted): Effect.Effect<number, SqlError> =>
  Effect.map(query("select store from store where tenant = 'test' and name = $1", [store], url), (rows) =>
    Number(rows[0]?.[0])
  )

/** A database beside the one of the run, with Jobwire's schema, for as long as the scope lives. */
export const ownDatabase: Effect.Effect<Redacted.Redacted, unknown, Scope.Scope> = Effect.gen(function* () {
  const name = `jobwire_own_${randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(query(`create database ${name}`), () =>
    Effect.orDie(query(`drop database ${name} with (force)`))
  )
  const url = new URL(Redacted.value(databaseUrl()))
  url.pathname = `/${name}`
  const own = Redacted.make(url.href)
  yield* PostgresJobStore.migrate({ url: own })
  return own
})
