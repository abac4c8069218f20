/** What a platform gives to the transports: a way to open a socket, and a client for HTTP. */
import { Effect, Layer, type Scope } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import type { Settings } from "./Options.ts"
import { askWhy } from "./transport/AskWhy.ts"
import type { OpenSocket } from "./transport/Connection.ts"
import { makeHttp } from "./transport/Http.ts"
import type { Transport } from "./transport/Transport.ts"
import { makeWebSocket } from "./transport/WebSocket.ts"

/** A platform. The client lives as long as the scope that it is made in, and opens as many connections as it needs. */
export interface Platform {
  readonly openSocket: OpenSocket
  readonly httpClient: Effect.Effect<HttpClient.HttpClient, never, Scope.Scope>
}

/** A client without spans of its own: a call has one already. */
export const untraced = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transformResponse(
    client,
    Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
  )

/**
 * A client that uses `fetch`. It follows no redirect: `fetch` would make a GET of the POST, and would take the token along.
 */
export const fetchClient: Effect.Effect<HttpClient.HttpClient> = HttpClient.HttpClient.pipe(
  Effect.map(untraced),
  Effect.provide(
    FetchHttpClient.layer.pipe(Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" })))
  )
)

/** The transport that the settings name. */
export const makeTransport = Effect.fnUntraced(function* (
  settings: Settings,
  platform: Platform
): Effect.fn.Return<Transport, never, Scope.Scope> {
  if (settings.transport === "http") return yield* makeHttp(settings, yield* platform.httpClient)
  return yield* makeWebSocket(settings, platform.openSocket, askWhy(settings, yield* fetchClient))
})
