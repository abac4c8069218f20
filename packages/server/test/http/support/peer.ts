/** A WebSocket peer that knows nothing but the wire. */
import { Effect, type Scope } from "effect"
import { type ClientOptions, WebSocket } from "ws"
import type { ExitMessage, RunningServer } from "./server.ts"

export interface Peer {
  readonly socket: WebSocket
  readonly send: (...messages: ReadonlyArray<unknown>) => void
  /** The exit of the call with this id. */
  readonly exitOf: (id: number | string) => Effect.Effect<ExitMessage["exit"]>
  /** Resolves with the close code. */
  readonly closed: Effect.Effect<number>
}

/** Opens a socket until the scope closes, or fails with the status that it was refused with. */
export const open = (server: RunningServer, options: PeerOptions = {}): Effect.Effect<Peer, number, Scope.Scope> =>
  Effect.acquireRelease(connect(server, options), ({ socket }) => Effect.sync(() => socket.terminate()))

interface PeerOptions extends ClientOptions {
  readonly protocols?: ReadonlyArray<string>
  readonly query?: string
}

const connect = (server: RunningServer, options: PeerOptions): Effect.Effect<Peer, number> =>
  Effect.callback<Peer, number>((resume) => {
    const { protocols = [], query = "", ...rest } = options
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/v1/rpc${query}`, [...protocols], rest)
    socket.once("unexpected-response", (_request, response) => {
      response.resume()
      resume(Effect.fail(response.statusCode ?? 0))
    })
    socket.once("open", () => resume(Effect.succeed(makePeer(socket))))
    socket.on("error", () => undefined)
  })

const makePeer = (socket: WebSocket): Peer => {
  const exits = new Map<number | string, ExitMessage["exit"]>()
  const waiting = new Map<number | string, (exit: ExitMessage["exit"]) => void>()
  let closeCode: number | undefined
  socket.on("close", (code) => (closeCode = code))
  socket.on("message", (data) => {
    for (const line of String(data)
      .split("\n")
      .filter((line) => line !== "")) {
      const answer = JSON.parse(line) as ExitMessage
      if (answer._tag !== "Exit") continue
      exits.set(answer.requestId, answer.exit)
      waiting.get(answer.requestId)?.(answer.exit)
    }
  })
  return {
    socket,
    send: (...messages) => socket.send(messages.map((message) => `${JSON.stringify(message)}\n`).join("")),
    exitOf: (id) =>
      Effect.callback((resume) => {
        const exit = exits.get(id)
        if (exit !== undefined) return resume(Effect.succeed(exit))
        waiting.set(id, (exit) => resume(Effect.succeed(exit)))
      }),
    closed: Effect.callback((resume) => {
      if (closeCode !== undefined) return resume(Effect.succeed(closeCode))
      socket.once("close", (code) => resume(Effect.succeed(code)))
    })
  }
}
