/** The paths of the server: the calls, behind the door, and the health checks in front of it. */
import { JobStoreRpcs, Wire } from "@jobwire/protocol"
import { Duration, Effect, Layer, Tracer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { RpcServer } from "effect/rpc"
import * as Door from "./Door.ts"
import { Drain } from "./Drain.ts"
import * as Handlers from "./Handlers.ts"
import * as Health from "./Health.ts"
import { CurrentHold, holdFor } from "./Hold.ts"
import * as ParkedWaits from "./ParkedWaits.ts"
import * as PostTransport from "./PostTransport.ts"
import * as Problem from "./Problem.ts"
import * as SocketTransport from "./SocketTransport.ts"
import * as Undelivered from "./Undelivered.ts"

/** What the routes can be told. */
export interface RouteOptions {
  /** How long a wait is held over HTTP. */
  readonly hold: Duration.Input
  /** How big the body of a POST may be, in bytes. */
  readonly maxMessageBytes: number
  /** How many waits may be parked at a time. */
  readonly parkedWaits: ParkedWaits.Limits
}

/** Runs the handlers on a transport until the scope closes. */
const serve = Effect.fnUntraced(function* (protocol: RpcServer.Protocol["Service"]) {
  // Spans cost time also when nobody collects them.
  const disableTracing = (yield* Tracer.Tracer) === Tracer.nativeTracer
  yield* RpcServer.make(JobStoreRpcs, { disableTracing, disableFatalDefects: true }).pipe(
    Effect.provideService(RpcServer.Protocol, protocol),
    Effect.forkScoped
  )
})

const isUpgrade = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers.upgrade?.toLowerCase() === "websocket"

const makeCalls = Effect.fnUntraced(function* (options: RouteOptions) {
  const drain = yield* Drain
  const door = yield* Door.make
  const post = yield* PostTransport.make(options.maxMessageBytes)
  const socket = yield* SocketTransport.make
  const hold = Duration.toMillis(options.hold)
  yield* serve(post.protocol)
  yield* serve(socket.protocol)

  const call = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const caller = yield* door.admit(request)
    return yield* post
      .handle(request)
      .pipe(
        Effect.provideContext(door.identity(caller)),
        Effect.provideService(CurrentHold, holdFor(request.headers.prefer, hold))
      )
  })

  const connect = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const caller = yield* door.admit(request)
    if (!isUpgrade(request)) return Problem.upgradeRequired()
    return yield* socket.handle(request).pipe(Effect.provideContext(door.identity(caller)))
  })

  // A connection is of no more use once the server stops.
  const lastOnConnection = (response: HttpServerResponse.HttpServerResponse) =>
    drain.hasBegun() ? HttpServerResponse.setHeader(response, "connection", "close") : response

  return (request: HttpServerRequest.HttpServerRequest) => {
    const answer =
      request.method === "POST"
        ? call(request)
        : request.method === "GET"
          ? connect(request)
          : Effect.succeed(Problem.methodNotAllowed(request.method, "GET, POST"))
    return Effect.map(Effect.catch(answer, Effect.succeed), lastOnConnection)
  }
})

/** Adds the routes to the router. */
export const layer = (options: RouteOptions) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      // The router takes it with a slash at the end too, which effect/rpc clients add.
      yield* router.add("*", Wire.callPath, yield* makeCalls(options))
      yield* router.add("GET", "/livez", Health.livez)
      yield* router.add("GET", "/readyz", yield* Health.makeReadyz)
    })
  ).pipe(
    Layer.provide(Layer.provide(Handlers.layer, Undelivered.layer)),
    Layer.provide(Layer.succeed(ParkedWaits.CurrentLimits, options.parkedWaits))
  )
