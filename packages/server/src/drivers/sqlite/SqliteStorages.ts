/** The storages of the stores in one database: their tables, inside transactions that concurrent callers share. */
import { JobStoreError } from "@jobwire/protocol"
import { Clock, Effect, Exit, type Scope } from "effect"
import type { DatabaseSync } from "node:sqlite"
import type { StoreId } from "../../JobStores.ts"
import type { Storage } from "../embedded/Storage.ts"
import { type DatabaseOptions, open } from "./Database.ts"
import { GroupCommit } from "./GroupCommit.ts"
import { mostStores } from "./JobKey.ts"
import { driverFault, fromSqlite, isSqliteError } from "./SqliteFault.ts"
import { prepareTables } from "./SqliteTables.ts"
import { prepare } from "./Statement.ts"
import { prepareState, StoreState } from "./StoreState.ts"
import { Transactions } from "./Transactions.ts"

/** The storages of one open database. */
export interface SqliteStorages {
  /** The storage of a store, which is given its number when it is new. The same id gives the same storage. */
  readonly get: (id: StoreId) => Effect.Effect<Storage, JobStoreError>
  /** Runs what waits, refuses what comes later, and closes the database. */
  readonly close: () => void
}

/** The storages of a database that was opened from this file. */
export const fromDatabase = (db: DatabaseSync, filename: string): SqliteStorages => {
  const transactions = new Transactions(db)
  const commits = new GroupCommit(transactions, filename, (error) => toFailure(filename, error))
  const idOf = prepareIds(db, filename)
  const stateSql = prepareState(db)
  const tablesOf = prepareTables(db)
  const storages = new Map<number, Storage>()
  const makeStorage = (store: number): Storage => {
    const tables = tablesOf(new StoreState(store, stateSql, transactions.changed))
    const storage: Storage = {
      write: (work) => commits.write(() => ({ answer: work(tables) })),
      read: (work) => commits.read(() => work(tables))
    }
    storages.set(store, storage)
    return storage
  }
  return {
    get: (id) =>
      Effect.map(
        commits.write(() => idOf(id)),
        (store) => storages.get(store) ?? makeStorage(store)
      ),
    close: () => {
      commits.close()
      db.close()
    }
  }
}

/** Opens the database in this file for as long as the scope lives. */
export const make: (options: DatabaseOptions) => Effect.Effect<SqliteStorages, JobStoreError, Scope.Scope> =
  Effect.fnUntraced(function* (options) {
    const now = yield* Clock.currentTimeMillis
    const opened = Effect.suspend(() => {
      try {
        return Effect.succeed(fromDatabase(open(options, now), options.filename))
      } catch (error) {
        return toFailure(options.filename, error)
      }
    })
    return yield* Effect.acquireRelease(opened, (storages) => Effect.sync(storages.close))
  })

/** What a caller is told when something threw: a fault of SQLite or a refusal as an error, all else as a defect. */
const toFailure = (filename: string, error: unknown): Exit.Exit<never, JobStoreError> => {
  if (isSqliteError(error)) return Exit.fail(fromSqlite(filename, error))
  return error instanceof JobStoreError ? Exit.fail(error) : Exit.die(error)
}

/** Finds the number of a store, or gives it the next. */
const prepareIds = (db: DatabaseSync, filename: string): ((id: StoreId) => number) => {
  const find = prepare<[number]>(db, "select store from store where tenant = ? and name = ?")
  const last = prepare<[number]>(db, "select coalesce(max(store), 0) from store")
  const insert = prepare(db, "insert into store (store, tenant, name, next_number) values (?, ?, ?, 1)")
  return ({ store, tenant }) => {
    const found = find.get(tenant, store)?.[0]
    if (found !== undefined) return found
    const made = (last.get()?.[0] ?? 0) + 1
    if (made > mostStores) {
      throw driverFault(`the database ${filename} has ${mostStores} stores, the most it can hold`, false)
    }
    insert.run(made, tenant, store)
    return made
  }
}
