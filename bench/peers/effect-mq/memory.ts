/** effect-mq's memory store: producer and worker are in one process, for it knows no other. */
import { Effect, ManagedRuntime } from "effect"
import { JobStore, MemoryJobStore } from "effect-mq"
import { numberOf } from "../../contenders/setting.ts"
import type { Adapter } from "../../contenders/Store.ts"
import { benchStore, bulk } from "./store.ts"

const adapter: Adapter = {
  bulk,
  prepare: async () => {},
  connect: async (target) => {
    const runtime = ManagedRuntime.make(MemoryJobStore.layer)
    const store = await runtime.runPromise(Effect.service(JobStore.JobStore))
    return benchStore(store, numberOf(target, "callers"), () => runtime.dispose())
  }
}
export default adapter
