/** Small real servers that tell what they received, until the scope closes. */
import { Effect, Queue, type Scope } from "effect"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { type RawData, type WebSocket, WebSocketServer } from "ws"

/** What came in of one request. */
export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage["headers"]
  readonly body: Buffer
  /** False when the connection ended before the request did. */
  readonly isWhole: boolean
  /** Resolves when the request's connection is gone before it was answered. */
  readonly abandoned: Promise<void>
}

/** A server that runs. */
export interface Running {
  readonly url: string
  readonly port: number
  readonly server: Server
}

/** Listens on 127.0.0.1. */
export const listen = (server: Server, port = 0): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Running>((resume) => {
      const open = new Set<Socket>()
      server.on("connection", (socket: Socket) => {
        open.add(socket)
        socket.on("error", () => undefined).once("close", () => open.delete(socket))
      })
      server.once("close", () => open.clear())
      server.listen(port, "127.0.0.1", () => {
        // A server that listens on TCP has such an address.
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, port, server }))
      })
    }),
    ({ server }) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )

const read = (request: IncomingMessage, response: ServerResponse): Promise<Received> =>
  new Promise((resolve) => {
    const chunks: Array<Buffer> = []
    const abandoned = new Promise<void>((gone) => {
      response.once("close", () => {
        if (!response.writableFinished) gone()
      })
    })
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("error", () => undefined)
    request.once("close", () => {
      const { headers, method = "", url = "" } = request
      resolve({ method, url, headers, body: Buffer.concat(chunks), isWhole: request.complete, abandoned })
    })
  })

/** How a server answers its so-many-th request, counted from 1. */
export type Answer = (request: Received, response: ServerResponse, count: number) => void

const echo: Answer = ({ body, method, url }, response, count) => {
  response.setHeader("x-count", count)
  response.end(`${count} ${method} ${url} ${body}`)
}

/** An HTTP server; each request can be taken as it has come in. */
export const http = Effect.fnUntraced(function* (answer: Answer = echo, port = 0) {
  const received = yield* Queue.unbounded<Received>()
  let count = 0
  const server = createServer(async (request, response) => {
    const mine = ++count
    const got = await read(request, response)
    Queue.offerUnsafe(received, got)
    if (got.isWhole) answer(got, response, mine)
  })
  const running = yield* listen(server, port)
  return { ...running, received: Queue.take(received), waiting: Queue.size(received) }
})

/** What a WebSocket server saw on one of its connections. */
export type Seen =
  | { readonly _tag: "Open"; readonly connection: number; readonly protocol: string; readonly extensions: string }
  | { readonly _tag: "Message"; readonly connection: number; readonly text: string }
  | { readonly _tag: "Ping" | "Pong"; readonly connection: number; readonly text: string }
  | { readonly _tag: "Close"; readonly connection: number; readonly code: number; readonly reason: string }

/** A WebSocket server; each thing that it sees can be taken as it has come. It says `re: …` to a message unless told otherwise. */
export const webSocket = Effect.fnUntraced(function* (
  onMessage: (socket: WebSocket, text: string) => void = (socket, text) => socket.send(`re: ${text}`)
) {
  const seen = yield* Queue.unbounded<Seen>()
  const server = createServer((_request, response) => void response.writeHead(426).end("no socket, no talk"))
  const sockets = new WebSocketServer({ server, perMessageDeflate: true, handleProtocols: ([first = ""]) => first })
  let connections = 0
  sockets.on("connection", (socket, request) => {
    const connection = ++connections
    const extensions = request.headers["sec-websocket-extensions"] ?? ""
    Queue.offerUnsafe(seen, { _tag: "Open", connection, protocol: socket.protocol, extensions })
    socket.on("error", () => undefined)
    socket.on("ping", (data) => Queue.offerUnsafe(seen, { _tag: "Ping", connection, text: String(data) }))
    socket.on("pong", (data) => Queue.offerUnsafe(seen, { _tag: "Pong", connection, text: String(data) }))
    socket.on("close", (code, reason) =>
      Queue.offerUnsafe(seen, { _tag: "Close", connection, code, reason: String(reason) })
    )
    socket.on("message", (data: RawData) => {
      const text = String(data)
      Queue.offerUnsafe(seen, { _tag: "Message", connection, text })
      onMessage(socket, text)
    })
  })
  const running = yield* listen(server)
  return { ...running, seen: Queue.take(seen), sockets: () => [...sockets.clients] }
})
