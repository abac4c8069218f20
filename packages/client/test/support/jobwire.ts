/** A Jobwire server under test, and the remote stores of both entries and transports that talk to it. */
import * as Main from "@jobwire/client"
import * as Node from "@jobwire/client/node"
import { JobStore, JobStoreError, Limits } from "@jobwire/protocol"
import { JobStores, JobStoreServer } from "@jobwire/server"
import { Effect, Exit, Layer, Scope } from "effect"
import { HttpServer } from "effect/http"

/** A server that runs. */
export interface Running {
  readonly url: string
  readonly port: number
  readonly stop: Effect.Effect<void>
}

/** Serves a store on 127.0.0.1 until it is stopped or the scope closes. */
export const serve = Effect.fnUntraced(function* (store: JobStore.Service, options: JobStoreServer.HttpOptions = {}) {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const layer = JobStoreServer.layerHttp({ port: 0, grace: "300 millis", ...options }).pipe(
    Layer.provide(JobStores.layerSingle),
    Layer.provide(Layer.succeed(JobStore.JobStore, store))
  )
  const context = yield* Layer.buildWithScope(layer, scope)
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
  const port = "port" in address ? address.port : 0
  return { port, url: `http://127.0.0.1:${port}`, stop: Scope.close(scope, Exit.void) } satisfies Running
})

type Options = Main.RemoteJobStore.Options

/** One way to reach a server: an entry of the package and a transport. */
export interface Way {
  readonly name: string
  readonly transport: "websocket" | "http"
  readonly make: (options: Options) => Effect.Effect<JobStore.Service, JobStoreError, Scope.Scope>
}

const way = (entry: "main" | "node", transport: "websocket" | "http"): Way => {
  const { RemoteJobStore } = entry === "main" ? Main : Node
  return {
    name: `${entry}, ${transport}`,
    transport,
    // One try shows what became of it.
    make: (options) => RemoteJobStore.make({ retryTimeout: 0, ...options, transport })
  }
}

export const sockets: ReadonlyArray<Way> = [way("main", "websocket"), way("node", "websocket")]
export const posts: ReadonlyArray<Way> = [way("main", "http"), way("node", "http")]
export const ways: ReadonlyArray<Way> = [...sockets, ...posts]

/** Limits so wide that nothing is refused for its size before it is sent. */
export const wide: Limits.Limits = { ...Limits.defaults, payloadBytes: 1_000_000_000 }

/** The `JobStoreError` that an effect fails with. */
export const errorOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<JobStoreError, A | E, R> =>
  Effect.flatMap(Effect.flip(effect), (error) =>
    error instanceof JobStoreError ? Effect.succeed(error) : Effect.fail(error)
  )
