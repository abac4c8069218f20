/** Sessions whose statements somebody comes between. */
import type { SqlError } from "effect/sql/SqlError"
import type { Effect } from "effect"
import type { Row, Session, Sessions } from "../../../src/drivers/postgres/Connections.ts"

/** Runs in place of a statement, which it may run itself. */
export interface Between {
  (
    sql: string,
    run: Effect.Effect<ReadonlyArray<Row>, SqlError>,
    session: Session,
    parameters: ReadonlyArray<unknown> | undefined
  ): Effect.Effect<ReadonlyArray<Row>, SqlError>
}

/** The sessions with this between each statement and the database. */
export const broken = (sessions: Sessions, between: Between): Sessions => ({
  use: (work) =>
    sessions.use((session) =>
      work({ ...session, run: (sql, parameters) => between(sql, session.run(sql, parameters), session, parameters) })
    )
})

/** Comes between the first statement for which `isMeant` holds, and no other. */
export const once = (isMeant: (sql: string) => boolean, between: Between): Between => {
  let isOver = false
  return (sql, run, session, parameters) => {
    if (isOver || !isMeant(sql)) return run
    isOver = true
    return between(sql, run, session, parameters)
  }
}
