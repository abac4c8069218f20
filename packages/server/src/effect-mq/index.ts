/**
 * The way back: a store of the npm package `effect-mq` (its memory, Postgres or Redis driver, or your own) as a Jobwire
 * store, so that a Jobwire server can stand in front of it.
 *
 * ```ts
 * import * as EffectMq from "@jobwire/server/effect-mq"
 * import { MemoryJobStore } from "effect-mq"
 *
 * const StoreLive = EffectMq.layer.pipe(Layer.provide(MemoryJobStore.layer))
 * ```
 *
 * What the driver cannot do by itself, the wrapper adds as far as one process can: arguments are checked, claims and acks
 * that arrive twice are carried out once, wake tokens and cursors are opaque and known again. What stays different is in
 * `docs/effect-mq.md`.
 */
import { JobStore as Ours, Limits } from "@jobwire/protocol"
import { type Context, Effect, Layer } from "effect"
import { JobStore as Theirs } from "effect-mq"
import { make } from "./EffectMqDriver.ts"

export { make } from "./EffectMqDriver.ts"

/** The effect-mq store under `key` as the Jobwire store. Its limits are those of `Limits.CurrentLimits`. */
export const layerFor = <Id>(key: Context.Key<Id, Theirs.Service>): Layer.Layer<Ours.JobStore, never, Id> =>
  Layer.effect(
    Ours.JobStore,
    Effect.gen(function* () {
      return make(yield* key, yield* Limits.CurrentLimits, globalThis.crypto.randomUUID())
    })
  )

/** effect-mq's default store as the Jobwire store. */
export const layer: Layer.Layer<Ours.JobStore, never, Theirs.JobStore> = layerFor(Theirs.JobStore)
