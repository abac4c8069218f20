/** Job stores in a PostgreSQL database: durable, and shared by any number of servers. */
import { JobStore, type JobStoreError } from "@jobwire/protocol"
import { Config, type Context, Effect, Layer, type Scope } from "effect"
import { defaultStoreId, JobStores } from "../../JobStores.ts"
import type { PostgresOptions } from "./PostgresOptions.ts"
import { make } from "./PostgresStores.ts"

export { addMetadataIndex } from "./MetadataIndexing.ts"
export { grant } from "./Rights.ts"
export { check, type Migration, migrate, refuse, type SchemaVersion } from "./Migrations.ts"
export type { PostgresOptions } from "./PostgresOptions.ts"

const makeDefault = (options: PostgresOptions): Effect.Effect<JobStore.Service, JobStoreError, Scope.Scope> =>
  Effect.flatMap(make(options), (stores) => stores.get(defaultStoreId))

/** The job store of an application, in this database. Fails when the database cannot be used, and says why. */
export const layer = (options: PostgresOptions): Layer.Layer<JobStore.JobStore, JobStoreError> =>
  Layer.effect(JobStore.JobStore, makeDefault(options))

/** Like {@link layer}, under a key of `JobStore.named`; each named store has a schema or a database of its own. */
export const layerFor = <Identifier>(
  key: Context.Key<Identifier, JobStore.Service>,
  options: PostgresOptions
): Layer.Layer<Identifier, JobStoreError> => Layer.effect(key, makeDefault(options))

/** Like {@link layer}, with options from configuration. */
export const layerConfig = (
  options: Config.Wrap<PostgresOptions>
): Layer.Layer<JobStore.JobStore, JobStoreError | Config.ConfigError> =>
  Layer.unwrap(Effect.map(Config.unwrap(options), layer))

/** The directory of all stores in one database; a tenant's store is made when it is first asked for. */
export const layerStores = (options: PostgresOptions): Layer.Layer<JobStores, JobStoreError> =>
  Layer.effect(JobStores, make(options))
