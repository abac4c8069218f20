/** effect-mq's stores on a `jobwire serve` process. */
import * as EffectMq from "@jobwire/client/effect-mq"
import { type Context, Effect, Layer } from "effect"
import type { JobStore } from "effect-mq"
import { JobwireServe } from "./jobwire-serve.ts"

/** A store of the server, under effect-mq's key. */
export const remoteStore = <Id>(
  key: Context.Key<Id, JobStore.Service>,
  options: { readonly store: string; readonly transport?: "websocket" | "http" }
): Layer.Layer<Id, never, JobwireServe> =>
  Layer.unwrap(Effect.map(JobwireServe, ({ url }) => EffectMq.layerRemoteFor(key, { url, ...options }))).pipe(
    Layer.orDie
  )
