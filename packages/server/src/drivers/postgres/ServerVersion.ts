/** Which PostgreSQL it is: older ones than these lack what the statements are made of, and are given no fixes any more. */
import type { JobStoreError } from "@jobwire/protocol"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect } from "effect"
import * as LiveClock from "../../LiveClock.ts"
import { driverFault, fromSql } from "./PostgresFault.ts"
import type { DatabaseOptions } from "./PostgresOptions.ts"

/** The oldest major version that is served. */
export const oldest = 14

const ask = "select current_setting('server_version_num')::int4, current_setting('server_version')"

/** What is wrong with a version, given as `server_version_num` and as people read it. */
export const refusalOf = (number: number, text: string): JobStoreError | undefined =>
  number >= oldest * 10_000
    ? undefined
    : driverFault(`this is PostgreSQL ${text}, and Jobwire needs ${oldest} or later: upgrade the database`, false)

/** Fails when the database is too old. */
export const check: (options: DatabaseOptions) => Effect.Effect<void, JobStoreError> = Effect.fnUntraced(
  function* (options) {
    const connection = yield* Effect.mapError(
      PgConnection.make({ url: options.url, applicationName: "jobwire", prepare: false }),
      fromSql
    )
    const [row] = yield* Effect.mapError(connection.queryValues(ask, [], false), fromSql)
    const refusal = refusalOf(Number(row?.[0]), String(row?.[1]))
    if (refusal !== undefined) return yield* Effect.fail(refusal)
  },
  Effect.scoped,
  LiveClock.withLive
)
