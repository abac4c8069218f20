/**
 * Whether a connection keeps its session. A pooler in transaction mode gives each transaction another one, and then settings,
 * prepared statements and LISTEN are lost or, worse, somebody else's: such connections are refused.
 */
import type { JobStoreError } from "@jobwire/protocol"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as LiveClock from "../../LiveClock.ts"
import { driverFault, fromSql } from "./PostgresFault.ts"
import type { DatabaseOptions } from "./PostgresOptions.ts"

// A setting that PostgreSQL keeps for anybody. Statements without a name work through every pooler, so the check tells.
const write = "select set_config('jobwire.session', $1, false)"
const read = "select current_setting('jobwire.session', true)"

// In an order that no pooler with few sessions, whether it gives the last one or the next one, can follow by chance.
const turns = [0, 0, 1, 0, 1, 1, 0] as const

const keepsSession: (options: DatabaseOptions) => Effect.Effect<boolean, SqlError> = Effect.fnUntraced(function* (
  options
) {
  const both = yield* Effect.all([connect(options), connect(options)])
  const marks = [crypto.randomUUID(), crypto.randomUUID()]
  yield* both[0].queryValues(write, [marks[0]], false)
  yield* both[1].queryValues(write, [marks[1]], false)
  for (const turn of turns) {
    const rows = yield* both[turn].queryValues(read, [], false)
    if (rows[0]?.[0] !== marks[turn]) return false
  }
  return true
}, Effect.scoped)

const connect = (options: DatabaseOptions) =>
  PgConnection.make({ url: options.url, applicationName: "jobwire", prepare: false })

/** Fails when two connections share or change sessions. */
export const check = (options: DatabaseOptions): Effect.Effect<void, JobStoreError> =>
  keepsSession(options).pipe(
    LiveClock.withLive,
    Effect.mapError(fromSql),
    Effect.flatMap((keeps) =>
      keeps
        ? Effect.void
        : Effect.fail(
            driverFault(
              "the connections to PostgreSQL do not keep their sessions, as behind a pooler in transaction mode. Jobwire needs them for " +
                "its settings, its prepared statements and LISTEN: give it the database itself, or a pooler in session mode",
              false
            )
          )
    )
  )
