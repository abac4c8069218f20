/**
 * Many stores behind one server: the directory that gives the store of a tenant and a name.
 */
import { JobStore, JobStoreError } from "@jobwire/protocol"
import { Context, Effect, Layer } from "effect"

/** Which store: every row and key of a driver is kept under it. */
export interface StoreId {
  readonly tenant: string
  readonly store: string
}

/** The tenant and the store of an application that names neither. */
export const defaultStoreId: StoreId = { tenant: "default", store: "default" }

/** Gives stores by id. The same id always gives the same store. */
export class JobStores extends Context.Service<
  JobStores,
  { readonly get: (id: StoreId) => Effect.Effect<JobStore.Service, JobStoreError> }
>()("@jobwire/server/JobStores") {}

/** A directory with one store: the {@link JobStore.JobStore} that is provided, under {@link defaultStoreId}. */
export const layerSingle: Layer.Layer<JobStores, never, JobStore.JobStore> = Layer.effect(
  JobStores,
  Effect.gen(function* () {
    const service = yield* JobStore.JobStore
    return JobStores.of({
      get: (id) =>
        id.tenant === defaultStoreId.tenant && id.store === defaultStoreId.store
          ? Effect.succeed(service)
          : Effect.fail(
              new JobStoreError({
                message:
                  `there is no store ${JSON.stringify(id.store)} of tenant ${JSON.stringify(id.tenant)}: ` +
                  `this server has one store, ${JSON.stringify(defaultStoreId.store)}`,
                reason: { _tag: "InvalidArgument", field: "store" }
              })
            )
    })
  })
)
