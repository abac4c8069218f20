/**
 * Calls by WebSocket: each frame carries one or more lines, each line an effect/rpc message as JSON. Any number of calls may
 * be in flight. What a peer does wrong costs it its own socket and nobody else anything.
 */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Socket } from "effect/socket"
import { connectionOf } from "./Connection.ts"
import { Drain } from "./Drain.ts"
import * as Outbox from "./Outbox.ts"
import * as RpcProtocol from "./RpcProtocol.ts"
import * as Silence from "./Silence.ts"
import * as SocketPeer from "./SocketPeer.ts"

/** The protocol for an `RpcServer`, and the handler of an upgrade that feeds it. */
export const make = Effect.gen(function* () {
  const drain = yield* Drain
  const silence = yield* Silence.make
  const rpc = yield* RpcProtocol.make({ supportsSpanPropagation: true })

  const serve = Effect.fnUntraced(function* (socket: Socket.Socket, request: HttpServerRequest.HttpServerRequest) {
    const connection = connectionOf(request)
    const { write } = yield* socket.writer
    const { pull } = yield* socket.reader
    const peer = SocketPeer.make(rpc, drain, { write, isOpen: () => connection?.destroyed !== true })
    const undo = [drain.onFinish(peer.sayGoodbye), silence.watch(connection), peer.onGone]
    yield* Effect.addFinalizer(() => Effect.sync(() => undo.forEach((step) => step())))
    while (true) {
      yield* Outbox.roomIn(connection)
      for (const frame of yield* pull) yield* peer.onFrame(frame)
    }
  })

  /** Upgrades an admitted request and stays with it until the socket closes. Its fiber's context is the handlers'. */
  const handle = (request: HttpServerRequest.HttpServerRequest) =>
    Effect.scoped(Effect.flatMap(request.upgrade, (socket) => serve(socket, request))).pipe(
      // However a socket ends, there is nobody left to tell.
      Effect.catch((error) => Effect.logDebug("a WebSocket ended", error._tag)),
      Effect.as(HttpServerResponse.empty())
    )

  return { protocol: rpc.protocol, handle }
})
