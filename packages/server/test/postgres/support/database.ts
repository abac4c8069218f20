/** The database of the test run, beside the driver. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, type Redacted } from "effect"
import type { SqlError } from "effect/sql/SqlError"
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
export const numberOf = (store: string): Effect.Effect<number, SqlError> =>
  Effect.map(query("select store from store where tenant = 'test' and name = $1", [store]), (rows) =>
    Number(rows[0]?.[0])
  )
