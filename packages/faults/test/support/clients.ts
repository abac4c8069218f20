/** Clients that tell exactly what they saw. */
import { Effect, Queue, type Scope } from "effect"
import { Agent, type OutgoingHttpHeaders, request as httpRequest } from "node:http"
import { type ClientOptions, WebSocket } from "ws"

/** What a request came to. */
export type Outcome =
  | {
      readonly _tag: "Answered"
      readonly status: number
      readonly headers: NodeJS.Dict<string | Array<string>>
      readonly body: Buffer
    }
  /** An answer began and did not end. */
  | { readonly _tag: "Broken"; readonly status: number; readonly body: Buffer }
  /** No answer: the code of the error. */
  | { readonly _tag: "Failed"; readonly code: string }

/** What is sent. */
export interface Sending {
  readonly method?: string
  readonly path?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Buffer
  readonly agent?: Agent
}

/** Sends a request, over a connection of its own unless an agent is given. Interruption closes the connection. */
export const send = (url: string, sending: Sending = {}): Effect.Effect<Outcome> =>
  Effect.callback((resume) => {
    const { agent = new Agent({ keepAlive: false }), body, headers = {}, method = "POST", path = "/" } = sending
    const { hostname, port } = new URL(url)
    const request = httpRequest({ hostname, port, path, method, headers, agent })
    request.on("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.succeed({ _tag: "Failed", code: error.code ?? error.message }))
    )
    request.on("response", (response) => {
      const chunks: Array<Buffer> = []
      const status = response.statusCode ?? 0
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", () => resume(Effect.succeed({ _tag: "Broken", status, body: Buffer.concat(chunks) })))
      response.on("end", () => {
        const outcome: Outcome = { _tag: "Answered", status, headers: response.headers, body: Buffer.concat(chunks) }
        // The connection is free for the next request when this turn of the event loop is over.
        setImmediate(() => resume(Effect.succeed(outcome)))
      })
    })
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

/** The text of an answer that must have come. */
export const textOf = (outcome: Outcome): string =>
  outcome._tag === "Answered" ? String(outcome.body) : `${outcome._tag} ${"code" in outcome ? outcome.code : ""}`

/** What a WebSocket client saw. */
export type Seen =
  | { readonly _tag: "Open"; readonly protocol: string }
  | { readonly _tag: "Message"; readonly text: string }
  | { readonly _tag: "Pong"; readonly text: string }
  | { readonly _tag: "Refused"; readonly status: number }
  | { readonly _tag: "Close"; readonly code: number }

/** A WebSocket and all that it sees, one after another. */
export interface Peer {
  readonly socket: WebSocket
  readonly seen: Effect.Effect<Seen>
  readonly send: (text: string) => void
}

/** Asks for a WebSocket, until the scope closes. */
export const connect = Effect.fnUntraced(function* (
  url: string,
  protocols: Array<string> = [],
  options: ClientOptions = {}
): Effect.fn.Return<Peer, never, Scope.Scope> {
  const seen = yield* Queue.unbounded<Seen>()
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => new WebSocket(url.replace("http", "ws"), protocols, options)),
    (socket) => Effect.sync(() => socket.terminate())
  )
  const offer = (event: Seen) => Queue.offerUnsafe(seen, event)
  socket.on("open", () => offer({ _tag: "Open", protocol: socket.protocol }))
  socket.on("message", (data) => offer({ _tag: "Message", text: String(data) }))
  socket.on("pong", (data) => offer({ _tag: "Pong", text: String(data) }))
  socket.on("unexpected-response", (_request, response) => {
    response.resume()
    offer({ _tag: "Refused", status: response.statusCode ?? 0 })
  })
  socket.on("error", () => undefined)
  socket.on("close", (code) => offer({ _tag: "Close", code }))
  return { socket, seen: Queue.take(seen), send: (text) => socket.send(text) }
})

/** Opens a WebSocket, until the scope closes. */
export const open = Effect.fnUntraced(function* (url: string, protocols?: Array<string>, options?: ClientOptions) {
  const peer = yield* connect(url, protocols, options)
  const first = yield* peer.seen
  if (first._tag !== "Open") return yield* Effect.die(new Error(`the socket did not open: ${JSON.stringify(first)}`))
  return peer
})
