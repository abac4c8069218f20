/** A node:http server with limits that fit a job store, which closes in bounded time whatever its peers do. */
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Schema } from "effect"
import { HttpServer } from "effect/http"
import { createServer, type Server } from "node:http"
import type { Socket } from "node:net"
import { chooseSubprotocol } from "./Credentials.ts"
import { Drain } from "./Drain.ts"

/** Where to listen, and how big one message may be. */
export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly maxMessageBytes: number
}

/** The server cannot listen there. The message says why and what to do. */
export class ListenError extends Schema.TaggedError<ListenError>()("ListenError", {
  message: Schema.String,
  host: Schema.String,
  port: Schema.Int
}) {}

/** How long peers have for their part of a close before their connections are cut, in milliseconds. */
const closeMs = 1000

const second = 1000

const makeServer = (): Server =>
  createServer({
    // The request line and all headers together, in bytes.
    maxHeaderSize: 16 * 1024,
    headersTimeout: 15 * second,
    // For the whole request with its body: 16 MiB at 1 Mbit/s take 135 seconds.
    requestTimeout: 180 * second,
    connectionsCheckingInterval: 5 * second,
    // Longer than the minute that proxies keep idle connections, so that they never reuse one just closed here.
    keepAliveTimeout: 75 * second,
    keepAlive: true,
    keepAliveInitialDelay: 30 * second
  })

/** Has connections cut that are still open a moment after the server has stopped. */
const cutLateConnections = (server: Server, drain: Drain["Service"]): void => {
  const connections = new Set<Socket>()
  server.on("connection", (socket) => {
    connections.add(socket)
    socket.once("close", () => connections.delete(socket))
  })
  const cut = () => {
    for (const socket of connections) socket.destroy()
  }
  drain.onFinish(Effect.sync(() => void setTimeout(cut, closeMs).unref()))
}

const explain = ({ host, port }: ListenOptions, cause: unknown): ListenError => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : String(cause)
  const where = `${host} port ${port}`
  const messages: Readonly<Record<string, string>> = {
    EADDRINUSE: `${where} is in use: stop what listens there, or choose another port`,
    EACCES: `this user may not listen on ${where}: choose a port above 1023`,
    EADDRNOTAVAIL: `this machine has no address ${host}: choose one of its own, or 0.0.0.0 for all`,
    ENOTFOUND: `there is no host ${host}: choose an address of this machine`
  }
  return new ListenError({ message: messages[code] ?? `cannot listen on ${where}: ${code}`, host, port })
}

/** An `HttpServer` that listens there. */
export const layer = (options: ListenOptions): Layer.Layer<HttpServer.HttpServer, ListenError, Drain> =>
  Layer.effect(
    HttpServer.HttpServer,
    Effect.gen(function* () {
      const server = makeServer()
      cutLateConnections(server, yield* Drain)
      return yield* NodeHttpServer.make(() => server, {
        host: options.host,
        port: options.port,
        websocket: {
          maxPayload: options.maxMessageBytes,
          handleProtocols: chooseSubprotocol,
          perMessageDeflate: false
        }
      })
    }).pipe(Effect.mapError((error) => explain(options, error.cause)))
  )
