/** PostgreSQL stores of their own: each has a name that nobody else uses, in the database of the test run. */
import { JobStore } from "@jobwire/protocol"
import { JobStores } from "@jobwire/server"
import { PostgresJobStore } from "@jobwire/server/postgres"
import { Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { inject } from "vitest"

/** The database of the test run. */
export const databaseUrl = (): Redacted.Redacted => Redacted.make(inject("postgresUrl"))

/** The store of this name; several layers with one name are several servers on one store. */
export const postgresStore = (
  store: string,
  options?: Partial<PostgresJobStore.PostgresOptions>
): Layer.Layer<JobStore.JobStore, unknown> =>
  Layer.effect(
    JobStore.JobStore,
    Effect.flatMap(JobStores.JobStores, (stores) => stores.get({ tenant: "test", store }))
  ).pipe(Layer.provide(PostgresJobStore.layerStores({ url: databaseUrl(), ...options })))

/** A new store each time the layer is built. */
export const freshPostgres: Layer.Layer<JobStore.JobStore, unknown> = Layer.unwrap(
  Effect.sync(() => postgresStore(randomUUID()))
)
