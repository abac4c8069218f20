/** The layers of a remote store, made from the way a platform makes one. */
import { JobStore, type JobStoreError } from "@jobwire/protocol"
import { Config, type Context, Effect, Layer } from "effect"
import type { Options } from "./Options.ts"
import type { Platform } from "./Platform.ts"
import { makeStore } from "./Store.ts"

/** See `RemoteJobStore.layer`. */
export const layer = (options: Options, platform: Platform): Layer.Layer<JobStore.JobStore, JobStoreError> =>
  Layer.effect(JobStore.JobStore, makeStore(options, platform))

/** See `RemoteJobStore.layerFor`. */
export const layerFor = <Name extends string>(
  key: Context.Key<JobStore.Named<Name>, JobStore.Service>,
  options: Options,
  platform: Platform
): Layer.Layer<JobStore.Named<Name>, JobStoreError> => Layer.effect(key, makeStore(options, platform))

/** See `RemoteJobStore.layerConfig`. */
export const layerConfig = (
  options: Config.Wrap<Options>,
  platform: Platform
): Layer.Layer<JobStore.JobStore, Config.ConfigError | JobStoreError> =>
  Layer.effect(
    JobStore.JobStore,
    Effect.flatMap(Config.unwrap(options), (read) => makeStore(read, platform))
  )
