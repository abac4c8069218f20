/** Servers that do what no Jobwire server does: plain sockets and HTTP, on 127.0.0.1 until the scope closes. */
import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from "node:net"
import { type WebSocket, WebSocketServer } from "ws"

const listen = <S extends Server | TcpServer>(
  make: () => S,
  scheme: string,
  port: number
): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly server: S; readonly open: Set<Socket> }>((resume) => {
        const server = make()
        const open = new Set<Socket>()
        server.on("connection", (socket: Socket) => {
          open.add(socket)
          socket.on("error", () => undefined).once("close", () => open.delete(socket))
        })
        server.listen(port, "127.0.0.1", () => resume(Effect.succeed({ server, open })))
      }),
      ({ open, server }) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          for (const socket of open) socket.destroy()
        })
    ),
    // A server that listens on TCP has such an address.
    ({ server }) => `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
  )

/** Answers every request by the listener; a request for a WebSocket too. */
export const answering = (listener: RequestListener, port = 0): Effect.Effect<string, never, Scope.Scope> =>
  listen(() => createServer(listener), "http", port)

/** Answers every request with this. */
export const answeringWith = (
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<string, never, Scope.Scope> =>
  answering((request, response) => {
    request.resume()
    request.once("end", () => response.writeHead(status, headers).end(body))
  })

/** Refuses as a Jobwire server does, by a problem document. */
export const refusing = (
  status: number,
  detail: string,
  members: Readonly<Record<string, unknown>> = {}
): Effect.Effect<string, never, Scope.Scope> =>
  answeringWith(status, JSON.stringify({ type: "about:blank", title: "no", status, detail, ...members }), {
    "content-type": "application/problem+json"
  })

/** Opens every WebSocket and lets the test do with it what it likes. Other requests get 426. */
export const accepting = (
  onSocket: (socket: WebSocket, request: IncomingMessage) => void,
  port = 0
): Effect.Effect<string, never, Scope.Scope> => {
  const sockets = new WebSocketServer({ noServer: true })
  return listen(
    () =>
      createServer((request, response) => {
        request.resume()
        response.writeHead(426).end()
      }).on("upgrade", (request, socket, head) =>
        sockets.handleUpgrade(request, socket, head, (opened) => {
          opened.on("error", () => undefined)
          onSocket(opened, request)
        })
      ),
    "http",
    port
  )
}

/** Takes connections and does with each what the test likes, below HTTP. */
export const tcp = (onConnection: (socket: Socket) => void): Effect.Effect<string, never, Scope.Scope> =>
  listen(() => createTcpServer(onConnection), "http", 0)

/** A port on which nothing listens. */
export const freePort: Effect.Effect<number> = Effect.scoped(
  Effect.map(
    tcp(() => undefined),
    (url) => Number(new URL(url).port)
  )
)

/** The messages in a frame of a socket. */
export const messagesIn = (
  data: unknown
): ReadonlyArray<{ readonly _tag: string; readonly id: string; readonly tag: string; readonly payload: unknown }> =>
  String(data)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))
