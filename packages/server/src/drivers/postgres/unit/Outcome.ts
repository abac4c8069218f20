/** Running a transaction of units until its outcome is known. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect, Schedule } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Sessions } from "../Connections.ts"
import { fromLostCommit, fromSql, isConflict, isConnectionLost, isTaken, isTransient } from "../PostgresFault.ts"
import type { Work } from "./Turns.ts"
import { type CommittedUnits, type LostCommit, runTransaction, type UnitStore } from "./UnitTransaction.ts"

// All of it was rolled back, and is likely to succeed.
const mayRunAgain = (error: SqlError): boolean => isConflict(error) || isConnectionLost(error) || isTaken(error)

/** How a transaction that may run again does. */
export const again = {
  schedule: Schedule.jittered(Schedule.exponential("10 millis")),
  times: 6,
  while: (error: SqlError | JobStoreError) => error._tag === "SqlError" && mayRunAgain(error)
}

const askAgain = { schedule: Schedule.spaced("200 millis"), times: 25 }

/**
 * What became of a transaction whose commit was never answered: the database remembers it by its number. When it cannot be asked, or
 * does not know, nobody does.
 */
const settle = (
  sessions: Sessions,
  { committed, error }: LostCommit
): Effect.Effect<CommittedUnits, SqlError | JobStoreError> => {
  const status = sessions.use((session) =>
    session.run("select pg_xact_status($1::text::xid8)", [committed.transaction])
  )
  const known = Effect.filterOrFail(
    Effect.map(status, (rows) => rows[0]?.[0]),
    (word) => word === "committed" || word === "aborted"
  )
  return known.pipe(
    Effect.retry(askAgain),
    Effect.mapError(() => fromLostCommit(error)),
    Effect.flatMap((word) => (word === "committed" ? Effect.succeed(committed) : Effect.fail(error)))
  )
}

/** Runs units in one transaction, again where that is right, and fails when there is no hope of it. */
export const runUntilKnown = (
  sessions: Sessions,
  store: UnitStore,
  works: ReadonlyArray<Work>
): Effect.Effect<CommittedUnits, Failure> =>
  sessions
    .use((session) => runTransaction(session, store, works))
    .pipe(
      Effect.catchTag("LostCommit", (lost) => settle(sessions, lost)),
      Effect.retry(again),
      Effect.mapError((error) =>
        error._tag === "SqlError"
          ? { fault: fromSql(error), isOfUnits: !isTransient(error) }
          : { fault: error, isOfUnits: false }
      )
    )

/** Why a transaction of units failed, and whether what they wrote may be the reason, so that others than the guilty may succeed. */
export interface Failure {
  readonly fault: JobStoreError
  readonly isOfUnits: boolean
}
