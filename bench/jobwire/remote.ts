/** Jobwire through the network: the client that applications use. */
import "effect/schema/SchemaJITCompiler/enable"
import { RemoteJobStore } from "@jobwire/client/node"
import { Effect, Exit, Scope } from "effect"
import { numberOf } from "../contenders/setting.ts"
import type { Adapter } from "../contenders/Store.ts"
import { benchStore, bulk } from "./store.ts"

const adapter: Adapter = {
  bulk,
  prepare: async () => {},
  connect: async (target) => {
    const { options, url } = target
    const scope = Scope.makeUnsafe()
    const transport = options["transport"] === "http" ? "http" : "websocket"
    const store = await Effect.runPromise(Scope.provide(RemoteJobStore.make({ url, transport }), scope))
    const shape = { batch: numberOf(target, "batch"), callers: numberOf(target, "callers") }
    return benchStore(store, shape, () => Effect.runPromise(Scope.close(scope, Exit.void)))
  }
}
export default adapter
