/** The routes in a router of somebody else, and what spans tell. */
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope, Tracer } from "effect"
import { HttpMiddleware, HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import * as JobStoreServer from "../../src/JobStoreServer.ts"
import { JobStores } from "../../src/JobStores.ts"
import { open } from "./support/peer.ts"
import { call, message, start, token } from "./support/server.ts"
import { make } from "./support/stub-store.ts"

describe("the routes in another router", () => {
  it.live("serve beside its own, and stop at once when the stop goes on top", () =>
    Effect.gen(function* () {
      const store = make()
      const app = Layer.merge(
        JobStoreServer.layer({ tokens: [token("secret")] }),
        HttpRouter.add("GET", "/own", HttpServerResponse.text("mine"))
      )
      const layer = JobStoreServer.layerStop.pipe(
        Layer.provide(HttpRouter.serve(app, { disableListenLog: true, disableLogger: true })),
        Layer.provideMerge(NodeHttpServer.layerServer(createServer, { host: "127.0.0.1", port: 0 })),
        Layer.provide(Layer.succeed(JobStores, { get: () => Effect.succeed(store.service) }))
      )
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(layer, scope)
      const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
      const port = "port" in address ? address.port : 0
      const server = { port, url: `http://127.0.0.1:${port}`, stop: Scope.close(scope, Exit.void) }

      assert.strictEqual(yield* Effect.promise(() => fetch(`${server.url}/own`).then((r) => r.text())), "mine")
      const headers = { authorization: "Bearer secret" }
      assert.deepInclude(yield* call(server, "pausedQueues", {}, headers), { _tag: "Success", value: [] })
      const peer = yield* open(server, { headers })
      peer.send(message("awaitWake", { queues: ["q"], wakeToken: "w" }))
      yield* store.parkedIs(1)
      const began = performance.now()
      yield* server.stop
      assert.isBelow(performance.now() - began, 5000)
      assert.strictEqual((yield* peer.exitOf(1))._tag, "Success")
    })
  )
})

describe("the spans of a server", () => {
  it.live("name the operation, and hold no token", () =>
    Effect.gen(function* () {
      const secret = "correct-horse-battery-staple"
      const encoded = Buffer.from(secret).toString("base64url")
      const spans: Array<Tracer.NativeSpan> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      yield* Effect.gen(function* () {
        const server = yield* start(make().service, { tokens: [token(secret)] })
        yield* call(server, "pausedQueues", {}, { authorization: `Bearer ${secret}` })
        const peer = yield* open(server, { protocols: ["jobwire.v1", `bearer.${encoded}`] })
        peer.send(message("pausedQueues"))
        yield* peer.exitOf(1)
        peer.socket.close()
        yield* server.stop
      }).pipe(
        Effect.scoped,
        Effect.provideService(Tracer.Tracer, tracer),
        Effect.provideService(HttpMiddleware.TracerHeaderFilter, () => true)
      )
      const text = JSON.stringify(spans.map((span) => [span.name, [...span.attributes].map(String)]))
      assert.include(text, "pausedQueues")
      assert.include(text, "sec-websocket-protocol")
      assert.notInclude(text, secret)
      assert.notInclude(text, encoded)
    })
  )
})
