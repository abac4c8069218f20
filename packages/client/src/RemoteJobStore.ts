/**
 * A job store on a server, as a `JobStore.Service`: whoever uses it cannot tell it from one in the process. It runs
 * wherever there are `fetch` and `WebSocket`. In Node, `@jobwire/client/node` is the same and better: its transports are
 * faster, and it can cut a socket whose server has vanished, which the platform's own `WebSocket` cannot.
 *
 * Operations fail as they do in a driver, by the same errors. A `JobStoreError` may then also say that the server was out
 * of reach (`Unavailable`), did not answer in time (`DeadlineExceeded`) or refused the caller (`Unauthorized`,
 * `Forbidden`). A call whose answer was lost, or that the server cannot take now, is tried again under its key for as long as
 * `retryTimeout` says, and is carried out once whichever of its tries arrive; only then it fails, and `mayHaveHappened` tells whether one
 * of them may have been carried out all the same. All timers run on the machine's clock, so a `TestClock` neither fires nor stops them.
 *
 * Encoding and decoding take a good part of a call's time. A program may compile its schemas once, for all of Effect and
 * before any schema is used: `import "effect/schema/SchemaJITCompiler/enable"`. That needs `new Function`, which some
 * platforms forbid, so this library does not do it by itself.
 */
import type { JobStore, JobStoreError } from "@jobwire/protocol"
import type { Config, Context, Effect, Layer, Scope } from "effect"
import * as Layers from "./Layers.ts"
import type { Options } from "./Options.ts"
import { fetchClient, type Platform } from "./Platform.ts"
import { makeStore } from "./Store.ts"

export type { Options } from "./Options.ts"

const platform: Platform = {
  openSocket: (url, protocols) => new globalThis.WebSocket(url, protocols),
  httpClient: fetchClient
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
