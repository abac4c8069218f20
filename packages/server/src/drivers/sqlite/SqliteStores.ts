/** The stores of one database: each is made when it is first asked for, and is there ever after. */
import type { JobStore, JobStoreError } from "@jobwire/protocol"
import { Effect, type Scope, Semaphore } from "effect"
import { JobStores, type StoreId } from "../../JobStores.ts"
import * as EmbeddedJobStore from "../embedded/EmbeddedJobStore.ts"
import type { StoreOptions } from "../embedded/StoreOptions.ts"
import type { DatabaseOptions } from "./Database.ts"
import * as SqliteStorages from "./SqliteStorages.ts"

/** Where the database is, how sure a commit is, and what its stores do. */
export interface SqliteOptions extends DatabaseOptions, StoreOptions {}

/** The directory of the stores in one database, which is open for as long as the scope lives. */
export const make: (options: SqliteOptions) => Effect.Effect<JobStores["Service"], JobStoreError, Scope.Scope> =
  Effect.fnUntraced(function* (options) {
    const storages = yield* SqliteStorages.make(options)
    // Sweepers of stores that are made later live in the scope, and by the clock, that the directory has now.
    const context = yield* Effect.context<Scope.Scope>()
    const oneAtATime = yield* Semaphore.make(1)
    const stores = new Map<string, JobStore.Service>()
    const getOrMake = Effect.fnUntraced(function* (id: StoreId) {
      const key = JSON.stringify([id.tenant, id.store])
      const found = stores.get(key)
      if (found !== undefined) return found
      const storage = yield* storages.get(id)
      const made = yield* Effect.provideContext(EmbeddedJobStore.make(storage, options), context)
      stores.set(key, made)
      return made
    })
    return JobStores.of({ get: (id) => oneAtATime.withPermit(getOrMake(id)) })
  })
