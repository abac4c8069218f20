/**
 * A Jobwire store for applications of the npm package `effect-mq`: its `Job`, `Worker`, `JobSchedules` and `Flow` run
 * on it as they are. Give its `JobStore` one of these layers instead of one of its own drivers.
 *
 * ```ts
 * import * as EffectMq from "@jobwire/client/effect-mq"
 *
 * const StoreLive = EffectMq.layerRemote({ url: "http://127.0.0.1:7077" })
 * ```
 *
 * `docs/effect-mq.md` says what stays as it was and what differs.
 */
import { JobStore as Ours, Limits } from "@jobwire/protocol"
import { type Context, Effect, Layer } from "effect"
import { JobStore as Theirs } from "effect-mq"
import { make } from "./EffectMqJobStore.ts"

export { make } from "./EffectMqJobStore.ts"

/**
 * The Jobwire store under `from` as the effect-mq store under `key`, for applications with several stores. Its limits are
 * those of `Limits.CurrentLimits`.
 */
export const layerFor = <Id, From = Ours.JobStore>(
  key: Context.Key<Id, Theirs.Service>,
  // Without a second argument `From` is its default.
  from: Context.Key<From, Ours.Service> = Ours.JobStore as unknown as Context.Key<From, Ours.Service>
): Layer.Layer<Id, never, From> =>
  Layer.effect(
    key,
    Effect.gen(function* () {
      return make(yield* from, yield* Limits.CurrentLimits)
    })
  )

/** The Jobwire store as effect-mq's default store. */
export const layer: Layer.Layer<Theirs.JobStore, never, Ours.JobStore> = layerFor(Theirs.JobStore)
