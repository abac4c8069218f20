/**
 * A Jobwire server in a process of its own whose clock its parent leads: started by `clocked-process.ts`. Every store name
 * gives a fresh store; `sqlite` as the argument keeps them in a file in the given folder.
 */
import { NodeRuntime } from "@effect/platform-node"
import { JobStoreServer, MemoryJobStore, SqliteJobStore } from "@jobwire/server"
import { Clock, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { join } from "node:path"
import * as LedClock from "./led-clock.ts"

const [, , driver, folder = ""] = process.argv
const led = LedClock.make()

const stores =
  driver === "sqlite" ? SqliteJobStore.layerStores({ filename: join(folder, "jobs.db") }) : MemoryJobStore.layerStores()

const ready = Layer.effectDiscard(
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    process.send?.({ port: "port" in address ? address.port : undefined })
  })
)

process.on("message", (message: { readonly now: number; readonly seq: number }) => {
  led.set(message.now)
  process.send?.({ seq: message.seq })
})
process.on("disconnect", () => process.exit(0))

const server = ready.pipe(
  Layer.provideMerge(JobStoreServer.layerHttp({ port: 0 })),
  Layer.provide(stores),
  Layer.provide(Layer.succeed(Clock.Clock, led.clock))
)

NodeRuntime.runMain(Layer.launch(server))
