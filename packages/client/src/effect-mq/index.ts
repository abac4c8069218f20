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
import { type JobStoreError, JobStore as Ours, Limits } from "@jobwire/protocol"
import { type Context, Effect, Layer } from "effect"
import { JobStore as Theirs } from "effect-mq"
import * as RemoteJobStore from "../RemoteJobStore.ts"
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

/** A store on a Jobwire server as the effect-mq store under `key`. Fails only when the options are wrong. */
export const layerRemoteFor = <Id>(
  key: Context.Key<Id, Theirs.Service>,
  options: RemoteJobStore.Options
): Layer.Layer<Id, JobStoreError> =>
  Layer.effect(
    key,
    Effect.gen(function* () {
      const limits = options.limits ?? (yield* Limits.CurrentLimits)
      return make(yield* RemoteJobStore.make(options), limits)
    })
  )

/**
 * A store on a Jobwire server as effect-mq's default store. In Node, {@link layer} over the `RemoteJobStore.layer` of
 * `@jobwire/client/node` is faster.
 */
export const layerRemote = (options: RemoteJobStore.Options): Layer.Layer<Theirs.JobStore, JobStoreError> =>
  layerRemoteFor(Theirs.JobStore, options)
