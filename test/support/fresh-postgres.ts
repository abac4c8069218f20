/** PostgreSQL stores of their own: each has a name that nobody else uses, in the database of the test run. */
import { JobStore, type JobStoreError } from "@jobwire/protocol"
import { JobStores } from "@jobwire/server"
import { PostgresJobStore } from "@jobwire/server/postgres"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { randomUUID } from "node:crypto"
import { afterAll, inject } from "vitest"

/** The database of the test run. */
export const databaseUrl = (): Redacted.Redacted => Redacted.make(inject("postgresUrl"))

/** The store of this name; several layers with one name are several servers on one store. */
export const postgresStore = (
  store: string,
  options?: Partial<PostgresJobStore.PostgresOptions>
): Layer.Layer<JobStore.JobStore, JobStoreError> =>
  Layer.effect(
    JobStore.JobStore,
    Effect.flatMap(JobStores.JobStores, (stores) => stores.get({ tenant: "test", store }))
  ).pipe(Layer.provide(PostgresJobStore.layerStores({ url: databaseUrl(), ...options })))

const scope = Scope.makeUnsafe()
const servers: Array<Promise<JobStores.JobStores["Service"]>> = []

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

// By the machine's clock its sweeper would take what stands in the time of a test for long over.
const serverOfFile = (index: number): Promise<JobStores.JobStores["Service"]> =>
  (servers[index] ??= Effect.runPromise(
    Layer.buildWithScope(
      Layer.fresh(PostgresJobStore.layerStores({ url: databaseUrl(), historySweepInterval: "20 days" })),
      scope
    ).pipe(Effect.map((context) => Context.get(context, JobStores.JobStores)))
  ))

const storeOf = (index: number, store: string): Layer.Layer<JobStore.JobStore, JobStoreError> =>
  Layer.effect(
    JobStore.JobStore,
    Effect.flatMap(
      Effect.promise(() => serverOfFile(index)),
      (stores) => stores.get({ tenant: "test", store })
    )
  )

/** A new store each time the layer is built, all of a file on one server. */
export const freshPostgres: Layer.Layer<JobStore.JobStore, JobStoreError> = Layer.unwrap(
  Effect.sync(() => storeOf(0, randomUUID()))
)

/** One store as each of so many servers has it; the servers are those of the file. */
export const postgresServers = (
  count: number,
  store: string
): ReadonlyArray<Layer.Layer<JobStore.JobStore, JobStoreError>> =>
  Array.from({ length: count }, (_, index) => storeOf(index, store))
