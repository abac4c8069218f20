/** The optional index for lists by metadata: whether it is there, and how it is made while servers go on working. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as LiveClock from "../../LiveClock.ts"
import { makeSessions, type Session, type Sessions } from "./Connections.ts"
import { createIndex, dropIndex, findIndex } from "./look/MetadataIndex.ts"
import { refuse, version } from "./Migrations.ts"
import { driverFault, fromSql } from "./PostgresFault.ts"
import type { DatabaseOptions } from "./PostgresOptions.ts"
import * as SchemaName from "./SchemaName.ts"

const isThere = (session: Session): Effect.Effect<boolean, SqlError> =>
  Effect.map(session.run(findIndex), ([row]) => Number(row?.[0]) > 0)

/** Whether the index is there and complete. */
export const hasMetadataIndex = (sessions: Sessions): Effect.Effect<boolean, JobStoreError> =>
  sessions.use(isThere).pipe(LiveClock.withLive, Effect.mapError(fromSql))

// Making it waits for every transaction that is open, also for one that waits for a lock; so nobody waits here. The lock goes with
// the connection.
const alone = Effect.fnUntraced(function* (session: Session, schema: string) {
  const [row] = yield* session.run("select pg_try_advisory_lock(hashtextextended($1, 0))", [`jobwire index ${schema}`])
  if (row?.[0] === true) return
  yield* driverFault("the index for metadata is being made by another: wait for its end", true)
})

const add = Effect.fnUntraced(function* (session: Session, schema: string) {
  yield* alone(session, schema)
  if (yield* isThere(session)) return false
  // What an attempt that was broken off has left is good for nothing, but is in the way.
  yield* session.run(dropIndex)
  yield* session.run(createIndex)
  return true
})

/**
 * Makes the index: it reads every job, and waits for transactions that are open. Answers false when it was there already. Servers use it
 * from their next start on.
 */
export const addMetadataIndex: (options: DatabaseOptions) => Effect.Effect<boolean, JobStoreError> = Effect.fnUntraced(
  function* (options) {
    const schema = yield* SchemaName.of(options)
    const sessions = yield* makeSessions(options, {}, { min: 0, max: 1 })
    return yield* sessions.use((session) =>
      Effect.andThen(Effect.flatMap(version(session, schema), refuse), add(session, schema))
    )
  },
  Effect.scoped,
  Effect.catchTag("SqlError", (error) => Effect.fail(fromSql(error)))
)
