/**
 * One transaction of units: it takes the store's lock, loads what they want, runs them, and writes what they have changed. The
 * statements of a step are sent together.
 */
import { Data, Effect, Exit } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Session } from "../Connections.ts"
import * as LaneNumbers from "../LaneNumbers.ts"
import { isConnectionLost } from "../PostgresFault.ts"
import type { Load, Write } from "./Load.ts"
import { Turns, type Work, type WorkExit } from "./Turns.ts"
import { type Changes, UnitTables } from "./UnitTables.ts"

/** The store that units belong to. */
export interface UnitStore {
  readonly number: number
  readonly lanes: LaneNumbers.LaneNumbers
}

/** A transaction that was committed. */
export interface CommittedUnits {
  /** Its number, as `pg_current_xact_id()` gives it. */
  readonly transaction: string
  /** How the units ended: all, or as many of the first as one transaction takes. */
  readonly exits: ReadonlyArray<WorkExit>
}

/** The commit was sent, and no answer came. */
export class LostCommit extends Data.TaggedError("LostCommit")<{
  readonly error: SqlError
  /** The life of the database in which the transaction has its number. */
  readonly life: string
  /** What there is if it was carried out. */
  readonly committed: CommittedUnits
}> {}

// The first key of the advisory lock of a store's units; the second is the store.
const lockClass = 0x6a6f_6277
const lock = `select pg_advisory_xact_lock(${lockClass}, $1::int4)`
const number = "select pg_current_xact_id()::text, pg_current_snapshot()::text"

type Statement = Effect.Effect<unknown, SqlError>

/** Sends all at once, waits for all, and fails as the first that failed. */
export const together = (statements: ReadonlyArray<Statement>): Effect.Effect<void, SqlError> =>
  Effect.flatMap(Effect.forEach(statements, Effect.exit, { concurrency: "unbounded" }), (exits) =>
    Exit.asVoid(exits.find(Exit.isFailure) ?? Exit.void)
  )

/** The load as a statement of this session. */
export const load =
  (session: Session, store: number) =>
  ({ parameters, receive, sql }: Load): Statement =>
    Effect.map(session.run(sql, [store, ...parameters]), receive)

/** All writes as one statement; they touch different rows, so that their order means nothing. */
const write = (session: Session, store: number, writes: ReadonlyArray<Write>): ReadonlyArray<Statement> => {
  if (writes.length === 0) return []
  const parameters: Array<unknown> = [store]
  const parts = writes.map((each, index) => {
    const sql = each.sql(parameters.length + 1)
    parameters.push(...each.parameters)
    return `w${index} as (${sql})`
  })
  return [session.run(`with ${parts.join(",")} select`, parameters)]
}

/** Writes what units have changed; answers the lanes that it has made for that. */
const writeAll = Effect.fnUntraced(function* (session: Session, store: UnitStore, changes: Changes) {
  const known = new LaneNumbers.LaneNumbers(store.lanes)
  const made = changes.lanes.length === 0 ? [] : yield* LaneNumbers.make(session, store.number, changes.lanes)
  for (const [lane, number] of made) known.learn(lane, number)
  const writes = [changes.clears, changes.writes(known)]
  yield* together(writes.flatMap((some) => write(session, store.number, some)))
  return made
})

/** Runs the units until all are kept, in a transaction that has begun with `first`. */
const runUnits = Effect.fnUntraced(function* (
  session: Session,
  store: UnitStore,
  tables: UnitTables,
  turns: Turns,
  first: ReadonlyArray<Statement>
) {
  let statements = first
  do {
    const loads = tables.loads()
    if (statements.length + loads.length === 0) return yield* Effect.die(new Error("a unit lacks what nothing loads"))
    yield* together([...statements, ...loads.map(load(session, store.number))])
    statements = []
  } while (!turns.next())
})

/** See the file. It fails with the error of a transaction that was rolled back. */
export const runTransaction = Effect.fnUntraced(function* (
  session: Session,
  store: UnitStore,
  works: ReadonlyArray<Work>
): Effect.fn.Return<CommittedUnits, SqlError | LostCommit> {
  const tables = new UnitTables("write", store.lanes)
  const turns = new Turns(tables, works)
  let transaction = ""
  // Before there is a transaction, units show what they want first.
  turns.next()
  const begin = [
    session.run("begin"),
    session.run(lock, [store.number]),
    Effect.map(session.run(number), ([row]) => {
      transaction = String(row?.[0])
      tables.begun(String(row?.[1]))
    })
  ]
  const made = yield* runUnits(session, store, tables, turns, begin).pipe(
    Effect.andThen(Effect.suspend(() => writeAll(session, store, tables.changes()))),
    Effect.tapCause(() => rollback(session))
  )
  const committed: CommittedUnits = { transaction, exits: turns.exits }
  // Not before all is written: a statement that was never sent would not hold it up.
  yield* session.run("commit").pipe(
    Effect.tapCause(() => rollback(session)),
    Effect.mapError((error) =>
      isConnectionLost(error) ? new LostCommit({ error, life: session.life, committed }) : error
    )
  )
  for (const [lane, number] of made) store.lanes.learn(lane, number)
  return committed
})

const rollback = (session: Session): Effect.Effect<void> => Effect.ignore(session.run("rollback"))
