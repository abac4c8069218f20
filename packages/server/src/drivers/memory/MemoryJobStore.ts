/**
 * The job store in memory: for tests, for development, and as the plainest driver. It has every guarantee but durability:
 * when the process ends, its jobs are gone. The cost of a claim does not grow with the number of jobs.
 */
import { JobStore } from "@jobwire/protocol"
import { Cache, type Context, Effect, Layer, Scope } from "effect"
import { JobStores, type StoreId } from "../../JobStores.ts"
import * as EmbeddedJobStore from "../embedded/EmbeddedJobStore.ts"
import type { StoreOptions } from "../embedded/StoreOptions.ts"
import { memoryStorage } from "./MemoryStorage.ts"
import * as MemoryTables from "./MemoryTables.ts"

/** Options of a store in memory. */
export interface MemoryJobStoreOptions extends StoreOptions {}

/** A new, empty store; the scope bounds its sweeper. */
export const make = (options?: MemoryJobStoreOptions): Effect.Effect<JobStore.Service, never, Scope.Scope> =>
  Effect.suspend(() => EmbeddedJobStore.make(memoryStorage(MemoryTables.make()), options))

/** A store with the defaults. */
export const layer: Layer.Layer<JobStore.JobStore> = Layer.effect(JobStore.JobStore, make())

/** A store with options. */
export const layerWith = (options: MemoryJobStoreOptions): Layer.Layer<JobStore.JobStore> =>
  Layer.effect(JobStore.JobStore, make(options))

/** A store under the key of a named one (`JobStore.named`). */
export const layerFor = <Id>(
  key: Context.Key<Id, JobStore.Service>,
  options?: MemoryJobStoreOptions
): Layer.Layer<Id> => Layer.effect(key, make(options))

/** A directory that makes an empty store for every id it is asked for, and keeps them apart. */
export const layerStores = (options?: MemoryJobStoreOptions): Layer.Layer<JobStores> =>
  Layer.effect(
    JobStores,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const stores = yield* Cache.make({
        capacity: Number.POSITIVE_INFINITY,
        lookup: (_key: string) => Effect.provideService(make(options), Scope.Scope, scope)
      })
      return JobStores.of({ get: (id) => Cache.get(stores, keyOf(id)) })
    })
  )

const keyOf = ({ store, tenant }: StoreId): string => JSON.stringify([tenant, store])
