/** Jobwire's sqlite driver without a network: what the transport costs is the difference. */
import { SqliteJobStore } from "@jobwire/server"
import { JobStore } from "@jobwire/protocol"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { join } from "node:path"
import { numberOf } from "../contenders/setting.ts"
import type { Adapter } from "../contenders/Store.ts"
import { benchStore, bulk } from "./store.ts"

const adapter: Adapter = {
  bulk,
  prepare: async () => {},
  connect: async (target) => {
    const { url } = target
    const scope = Scope.makeUnsafe()
    const layer = SqliteJobStore.layer({ filename: join(url, "jobs.sqlite"), synchronous: "full" })
    const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
    const shape = { batch: numberOf(target, "batch"), callers: numberOf(target, "callers") }
    return benchStore(Context.get(context, JobStore.JobStore), shape, () =>
      Effect.runPromise(Scope.close(scope, Exit.void))
    )
  }
}
export default adapter
