/**
 * Puts job stores behind HTTP and WebSocket, on one port and one path. Whoever the door lets in works with the store that
 * the credentials and the query name, through the same operations as in the same process. `docs/protocol.md` says what goes
 * over the wire.
 */
import { Wire } from "@jobwire/protocol"
import { type Duration, Effect, Layer, Schema } from "effect"
import { Headers, HttpRouter, type HttpServer, type HttpServerRequest } from "effect/http"
import { secretHeaders } from "./http/Credentials.ts"
import * as Drain from "./http/Drain.ts"
import { isLoopbackHost } from "./http/Loopback.ts"
import * as NodeListener from "./http/NodeListener.ts"
import * as ParkedWaits from "./http/ParkedWaits.ts"
import * as Problem from "./http/Problem.ts"
import * as Routes from "./http/Routes.ts"
import type { JobStores } from "./JobStores.ts"
import * as Tokens from "./tenant/Tokens.ts"

export { ListenError } from "./http/NodeListener.ts"

/** What a server can be told. Everything has a default. */
export interface Options {
  /**
   * Who may come in. Without any, every caller on this machine has all scopes of the default tenant, and nobody else gets in.
   */
  readonly tokens?: ReadonlyArray<Tokens.TokenEntry> | undefined
  /** How long a wait is held over HTTP, at most. 25 seconds unless given: proxies cut silent requests at 30 or 60. */
  readonly hold?: Duration.Input | undefined
  /** How long calls in flight may take once the server stops. 5 seconds unless given. */
  readonly grace?: Duration.Input | undefined
  /** How big a message may be, in bytes: the body of a POST, a frame of a WebSocket. A little below 16 MiB unless given. */
  readonly maxMessageBytes?: number | undefined
  /** How many waits of one tenant may be parked at a time: 20,000 unless given. Over it a new one is refused, and told when to try again. */
  readonly maxTenantWaits?: number | undefined
  /** How many waits of all tenants may be parked at a time: 50,000 unless given. */
  readonly maxServerWaits?: number | undefined
}

/** What a server that listens by itself can be told. */
export interface HttpOptions extends Options {
  /** A name or an address of this machine; 127.0.0.1 unless given. */
  readonly host?: string | undefined
  /** 7077 unless given; 0 takes a free one. */
  readonly port?: number | undefined
}

/** The server would be open to other machines, and it knows no token to tell callers apart by. */
export class UnsafeBindError extends Schema.TaggedError<UnsafeBindError>()("UnsafeBindError", {
  host: Schema.String
}) {
  override get message(): string {
    return (
      `the server will not listen on ${JSON.stringify(this.host)} without a token, as everybody who reaches it could do ` +
      `everything: give it a token, or listen on 127.0.0.1`
    )
  }
}

const defaultHold: Duration.Input = "25 seconds"

const routes = (options: Options) =>
  Routes.layer({
    hold: options.hold ?? defaultHold,
    maxMessageBytes: options.maxMessageBytes ?? Wire.maxMessageBytes,
    parkedWaits: {
      tenant: options.maxTenantWaits ?? ParkedWaits.defaultLimits.tenant,
      server: options.maxServerWaits ?? ParkedWaits.defaultLimits.server
    }
  }).pipe(Layer.provide(Tokens.layer(options.tokens ?? [])))

/**
 * Stops in good order: waits end, what runs is answered, sockets close. Goes on top of the layer that serves {@link layer},
 * so that it is the first to end. {@link layerHttp} has it already.
 */
export const layerStop: Layer.Layer<never, never, Drain.Drain> = Layer.effectDiscard(
  Effect.flatMap(Drain.Drain, (drain) => Effect.addFinalizer(() => drain.run))
)

/**
 * The routes of a server, for a router that has others too. The limit of a WebSocket's frame and its subprotocol are the
 * listener's to set; {@link layerHttp} does.
 */
export const layer = (
  options: Options = {}
): Layer.Layer<Drain.Drain, Tokens.TokenEntryError, JobStores | HttpRouter.HttpRouter> =>
  routes(options).pipe(Layer.provideMerge(Drain.layer(options.grace)))

const checkBind = ({ host, tokens = [] }: HttpOptions): Effect.Effect<void, UnsafeBindError> => {
  if (host === undefined || isLoopbackHost(host) || tokens.length > 0) return Effect.void
  return Effect.fail(new UnsafeBindError({ host }))
}

const notFound = HttpRouter.add("*", "/*", (request: HttpServerRequest.HttpServerRequest) =>
  Effect.succeed(Problem.notFound(request.url.split("?")[0]?.slice(0, 200) ?? "this path"))
)

const layerHidden = Layer.effect(
  Headers.CurrentRedactedNames,
  Effect.map(Headers.CurrentRedactedNames, (names) => [...names, ...secretHeaders])
)

/** A server on a port of its own. The `HttpServer` that it gives says where it listens. */
export const layerHttp = (
  options: HttpOptions = {}
): Layer.Layer<
  HttpServer.HttpServer,
  NodeListener.ListenError | Tokens.TokenEntryError | UnsafeBindError,
  JobStores
> => {
  const listener = NodeListener.layer({
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 7077,
    maxMessageBytes: options.maxMessageBytes ?? Wire.maxMessageBytes
  })
  const served = HttpRouter.serve(Layer.merge(routes(options), notFound), {
    disableLogger: true,
    disableListenLog: true
  })
  return layerStop.pipe(
    Layer.provide(served),
    Layer.provideMerge(listener),
    Layer.provide(Layer.mergeAll(Drain.layer(options.grace), layerHidden)),
    Layer.provide(Layer.effectDiscard(checkBind(options)))
  )
}
