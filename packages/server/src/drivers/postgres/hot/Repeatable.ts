/** Statements that may run twice without harm, because what they do is known by keys: run until their outcome is known. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as LiveClock from "../../../LiveClock.ts"
import type { Session, Sessions } from "../Connections.ts"
import { fromLostCommit, fromSql, isConnectionLost } from "../PostgresFault.ts"
import { again } from "../unit/Outcome.ts"

/** The fault after the last try of a statement. Where the answer of any try was lost, that one may have been carried out. */
export const faultOf = (error: SqlError, wasLost: boolean): JobStoreError =>
  wasLost ? fromLostCommit(error) : fromSql(error)

/** Runs the work on a session, again after a conflict or a lost connection; not for ever, and by the machine's clock. */
export const repeatable = <A>(
  sessions: Sessions,
  work: (session: Session) => Effect.Effect<A, SqlError>
): Effect.Effect<A, JobStoreError> =>
  Effect.suspend(() => {
    let wasLost = false
    const run = sessions.use((session) =>
      Effect.tapError(work(session), (error) => Effect.sync(() => (wasLost ||= isConnectionLost(error))))
    )
    return LiveClock.withLive(Effect.retry(run, again).pipe(Effect.mapError((error) => faultOf(error, wasLost))))
  })
