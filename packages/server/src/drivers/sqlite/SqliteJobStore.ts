/**
 * Job stores in one SQLite file: durable, nothing to install, one process at a time.
 *
 * A call is answered after its commit reached the disk. Calls that come together share a commit. A second process, or a
 * second layer, that opens the same file is refused while the first has it; a process that is killed gives it free. The
 * file belongs to Jobwire alone: other tools can open it when the store is closed. The lock is the operating system's on
 * the file, which a process also loses when it opens and closes the file by other means: leave it to the store.
 */
import { JobStore, type JobStoreError } from "@jobwire/protocol"
import { Config, type Context, Effect, Layer, type Scope } from "effect"
import { defaultStoreId, JobStores } from "../../JobStores.ts"
import { make, type SqliteOptions } from "./SqliteStores.ts"

export type { SqliteOptions } from "./SqliteStores.ts"

const makeDefault = (options: SqliteOptions): Effect.Effect<JobStore.Service, JobStoreError, Scope.Scope> =>
  Effect.flatMap(make(options), (stores) => stores.get(defaultStoreId))

/** The job store of an application, in the file of this name. Fails when the file cannot be used, and says why. */
export const layer = (options: SqliteOptions): Layer.Layer<JobStore.JobStore, JobStoreError> =>
  Layer.effect(JobStore.JobStore, makeDefault(options))

/** Like {@link layer}, under a key of `JobStore.named`; each named store has a file of its own. */
export const layerFor = <Identifier>(
  key: Context.Key<Identifier, JobStore.Service>,
  options: SqliteOptions
): Layer.Layer<Identifier, JobStoreError> => Layer.effect(key, makeDefault(options))

/** Like {@link layer}, with options from configuration. */
export const layerConfig = (
  options: Config.Wrap<SqliteOptions>
): Layer.Layer<JobStore.JobStore, JobStoreError | Config.ConfigError> =>
  Layer.unwrap(Effect.map(Config.unwrap(options), layer))

/** The directory of all stores in one file; a tenant's store is made when it is first asked for. */
export const layerStores = (options: SqliteOptions): Layer.Layer<JobStores, JobStoreError> =>
  Layer.effect(JobStores, make(options))
