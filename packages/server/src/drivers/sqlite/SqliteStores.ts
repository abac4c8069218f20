/** The stores of one database: each is made when it is first asked for, and is there ever after. */
import { type JobStore, JobStoreError } from "@jobwire/protocol"
import { Clock, Effect, Exit, type Scope, Semaphore } from "effect"
import type { DatabaseSync } from "node:sqlite"
import { JobStores, type StoreId } from "../../JobStores.ts"
import * as EmbeddedJobStore from "../embedded/EmbeddedJobStore.ts"
import type { Storage } from "../embedded/Storage.ts"
import type { StoreOptions } from "../embedded/StoreOptions.ts"
import { type DatabaseOptions, open } from "./Database.ts"
import { GroupCommit } from "./GroupCommit.ts"
import { mostStores } from "./JobKey.ts"
import { driverFault, fromSqlite, isSqliteError } from "./SqliteFault.ts"
import { prepareTables } from "./SqliteTables.ts"
import { prepare } from "./Statement.ts"
import { prepareState, StoreState } from "./StoreState.ts"
import { Transactions } from "./Transactions.ts"

/** Where the database is, how sure a commit is, and what its stores do. */
export interface SqliteOptions extends DatabaseOptions, StoreOptions {}

/** What a caller is told when something threw: a fault of SQLite or a refusal as an error, all else as a defect. */
const toFailure =
  (filename: string) =>
  (error: unknown): Exit.Exit<never, JobStoreError> => {
    if (isSqliteError(error)) return Exit.fail(fromSqlite(filename, error))
    return error instanceof JobStoreError ? Exit.fail(error) : Exit.die(error)
  }

/** Opens the database for as long as the scope lives; answers how to get the storage of each of its stores. */
export const openStorages: (
  options: DatabaseOptions
) => Effect.Effect<(id: StoreId) => Effect.Effect<Storage, JobStoreError>, JobStoreError, Scope.Scope> =
  Effect.fnUntraced(function* (options) {
    const now = yield* Clock.currentTimeMillis
    const failure = toFailure(options.filename)
    const attempt = <A>(body: () => A): Effect.Effect<A, JobStoreError> =>
      Effect.suspend(() => {
        try {
          return Effect.succeed(body())
        } catch (error) {
          return failure(error)
        }
      })
    const db = yield* Effect.acquireRelease(
      attempt(() => open(options, now)),
      (opened) => Effect.sync(() => opened.close())
    )
    const transactions = new Transactions(db)
    const commits = yield* Effect.acquireRelease(
      Effect.sync(() => new GroupCommit(transactions, options.filename, failure)),
      (made) => Effect.sync(() => made.close())
    )
    const idOf = prepareIds(db, options.filename)
    const stateSql = prepareState(db)
    const tablesOf = prepareTables(db)
    return (id) =>
      Effect.map(
        commits.write(() => idOf(id)),
        (store) => {
          const tables = tablesOf(new StoreState(store, stateSql, transactions.changed))
          return {
            write: (work) => commits.write(() => work(tables)),
            read: (work) => commits.read(() => work(tables))
          }
        }
      )
  })

/** The number of a store, which is given when the store is new. */
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

/** The directory of the stores in one database. */
export const make: (options: SqliteOptions) => Effect.Effect<JobStores["Service"], JobStoreError, Scope.Scope> =
  Effect.fnUntraced(function* (options) {
    const storageOf = yield* openStorages(options)
    // Sweepers of stores that are made later live in the scope, and by the clock, that the directory has now.
    const context = yield* Effect.context<Scope.Scope>()
    const oneAtATime = yield* Semaphore.make(1)
    const stores = new Map<string, JobStore.Service>()
    const getOrMake = Effect.fnUntraced(function* (id: StoreId) {
      const key = JSON.stringify([id.tenant, id.store])
      const found = stores.get(key)
      if (found !== undefined) return found
      const storage = yield* storageOf(id)
      const made = yield* Effect.provideContext(EmbeddedJobStore.make(storage, options), context)
      stores.set(key, made)
      return made
    })
    return JobStores.of({ get: (id) => oneAtATime.withPermit(getOrMake(id)) })
  })
