/** Ways to keep effect-mq's jobs on a Jobwire server; an application needs one of them. */
import * as EffectMq from "@jobwire/client/effect-mq"
import { RemoteJobStore } from "@jobwire/client/node"
import { Layer } from "effect"
import { JobStore } from "effect-mq"

const url = "http://127.0.0.1:7077"

/** Wherever there are fetch and WebSocket. */
export const RemoteLive = EffectMq.layerRemote({ url })

/** In Node, with the faster transports. */
export const NodeLive = EffectMq.layer.pipe(Layer.provide(RemoteJobStore.layer({ url })))

/** For an application with several stores. */
export const Mails = JobStore.named("mails")

export const StoresLive = Layer.mergeAll(
  EffectMq.layerRemote({ url }),
  EffectMq.layerRemoteFor(Mails, { url, store: "mails" })
)
