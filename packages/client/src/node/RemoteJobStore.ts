/**
 * A job store on a server, as a `JobStore.Service`, with the transports of Node: undici for HTTP, and sockets that can be
 * paused and cut. Names, options and meaning are those of `RemoteJobStore` in `@jobwire/client`.
 */
import { NodeHttpClient, NodeWS } from "@effect/platform-node"
import type { JobStore, JobStoreError } from "@jobwire/protocol"
import { type Config, type Context, Effect, type Layer, type Scope } from "effect"
import * as Layers from "../Layers.ts"
import type { Options } from "../Options.ts"
import { type Platform, untraced } from "../Platform.ts"
import { makeStore } from "../Store.ts"

export type { Options } from "../Options.ts"

const socketOptions = {
  // Messages are short and many: compressing each costs more than it saves.
  perMessageDeflate: false,
  // A server that does not answer a close has gone.
  closeTimeout: 1_000
}

const platform: Platform = {
  openSocket: (url, protocols) => new NodeWS.WebSocket(url, protocols, socketOptions),
  httpClient: NodeHttpClient.makeDispatcher.pipe(
    Effect.flatMap((dispatcher) =>
      Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, dispatcher)
    ),
    Effect.map(untraced)
  )
}

/** A remote store, for as long as the scope is open. Fails only when the options are wrong: it does not wait for the server. */
export const make = (options: Options): Effect.Effect<JobStore.Service, JobStoreError, Scope.Scope> =>
  makeStore(options, platform)

/** The remote store as the application's job store. */
export const layer = (options: Options): Layer.Layer<JobStore.JobStore, JobStoreError> =>
  Layers.layer(options, platform)

/** One of several stores in an application, by its key: `layerFor(JobStore.named("mail"), { url, store: "mail" })`. */
export const layerFor = <Name extends string>(
  key: Context.Key<JobStore.Named<Name>, JobStore.Service>,
  options: Options
): Layer.Layer<JobStore.Named<Name>, JobStoreError> => Layers.layerFor(key, options, platform)

/** Like {@link layer}, with options that are read from the configuration. */
export const layerConfig = (
  options: Config.Wrap<Options>
): Layer.Layer<JobStore.JobStore, Config.ConfigError | JobStoreError> => Layers.layerConfig(options, platform)
