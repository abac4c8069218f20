/** Running a transaction of units until its outcome is known. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect, Schedule } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Session, Sessions } from "../Connections.ts"
import {
  fromLostCommit,
  fromSql,
  isConflict,
  isConnectionLost,
  isTaken,
  isTransient,
  sqlState
} from "../PostgresFault.ts"
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

// A number that the database has not come to: it crashed, and lost what was not written out.
const isAhead = (error: SqlError): boolean => sqlState(error) === "22023"

/**
 * How a transaction ended, by its number. A number of another life may have been given out again, when the crash between them took
 * the transaction with it; so that somebody's commit proves nothing.
 */
const statusOf = Effect.fnUntraced(function* (session: Session, { committed, life }: LostCommit) {
  const [row] = yield* session
    .run("select pg_xact_status($1::text::xid8)", [committed.transaction])
    .pipe(Effect.catchIf(isAhead, () => Effect.succeed([["aborted"]])))
  return row?.[0] === "committed" && session.life !== life ? undefined : row?.[0]
})

/**
 * What became of a transaction whose commit was never answered: the database remembers it by its number. When it cannot be asked, or
 * does not know, nobody does.
 */
const settle = (sessions: Sessions, lost: LostCommit): Effect.Effect<CommittedUnits, SqlError | JobStoreError> => {
  const status = sessions.use((session) => statusOf(session, lost))
  const known = Effect.filterOrFail(status, (word) => word !== "in progress")
  return known.pipe(
    Effect.retry(askAgain),
    Effect.mapError(() => fromLostCommit(lost.error)),
    Effect.flatMap((word) => {
      if (word === "committed") return Effect.succeed(lost.committed)
      return Effect.fail(word === "aborted" ? lost.error : fromLostCommit(lost.error))
    })
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
