/** A unit that only reads: whatever it wants is of one moment, and it waits for nobody. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect, type Exit } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { type Session, type Sessions, transaction } from "../Connections.ts"
import { again } from "./Outcome.ts"
import { Turns, type Work } from "./Turns.ts"
import { load, together, type UnitStore } from "./UnitTransaction.ts"
import { UnitTables } from "./UnitTables.ts"

/** Loads until the unit lacks nothing. */
const readAll = Effect.fnUntraced(function* (session: Session, store: UnitStore, tables: UnitTables, turns: Turns) {
  while (!turns.next()) yield* together(tables.loads().map(load(session, store.number)))
  return turns.exits[0]
})

/** What one statement gives is of one moment; a unit that wants more reads all of it again in a transaction. */
const readIn = Effect.fnUntraced(function* (session: Session, store: UnitStore, work: Work) {
  const tables = new UnitTables("read", store.lanes)
  const turns = new Turns(tables, [work])
  turns.next()
  const [first, ...more] = tables.loads()
  if (first !== undefined && more.length === 0) {
    yield* load(session, store.number)(first)
    if (turns.next()) return turns.exits[0]
  }
  const anew = new UnitTables("read", store.lanes)
  const all = readAll(session, store, anew, new Turns(anew, [work]))
  return yield* transaction(session, all, "isolation level repeatable read, read only")
})

/** How the unit ended. */
export const read = (
  sessions: Sessions,
  store: UnitStore,
  work: Work
): Effect.Effect<Exit.Exit<unknown, JobStoreError> | undefined, SqlError> =>
  Effect.retry(
    sessions.use((session) => readIn(session, store, work)),
    again
  )
