/** A program that uses a remote store as an application does, and must then end by itself. Arguments: entry, transport, URL. */
import * as Main from "@jobwire/client"
import * as Node from "@jobwire/client/node"
import { JobStore } from "@jobwire/protocol"
import { Effect, Fiber } from "effect"

const [, , entry, transport, url = ""] = process.argv
const { RemoteJobStore } = entry === "main" ? Main : Node

const program = Effect.gen(function* () {
  const store = yield* JobStore.JobStore
  yield* Effect.all(
    Array.from({ length: 20 }, () => store.pausedQueues()),
    { concurrency: "unbounded" }
  )
  const waits = yield* Effect.forEach([1, 2, 3], (token) =>
    Effect.forkChild(store.awaitWake(["q"], String(token)), { startImmediately: true })
  )
  yield* store.pausedQueues()
  yield* Fiber.interruptAll(waits.slice(1))
})

const options = { url, transport: transport === "http" ? "http" : "websocket" } as const

// A layer that is closed again before it has come to anything.
await Effect.runPromise(Effect.scoped(RemoteJobStore.make(options)))
await Effect.runPromise(Effect.provide(program, RemoteJobStore.layer(options)))

const closedAt = performance.now()

process.on("exit", () => {
  const left = process.getActiveResourcesInfo().filter((resource) => /Timeout|TCP|TLS|DNS/.test(resource))
  console.log(JSON.stringify({ left, afterMs: Math.round(performance.now() - closedAt) }))
})
