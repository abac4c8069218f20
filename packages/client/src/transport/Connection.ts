/** The life of one socket: it opens, carries answers, is asked for signs of life, and ends by an error. */
import { type JobStoreError, Wire } from "@jobwire/protocol"
import { Effect, Function, type Scope } from "effect"
import { RpcSerialization } from "effect/rpc"
import { Socket } from "effect/socket"
import { broken, connectionLost, describe, type ShownUrl } from "../Faults.ts"
import { sleep } from "../LiveClock.ts"
import type { Settings } from "../Options.ts"
import { subprotocols } from "../Token.ts"
import type { Multiplexer } from "./Multiplexer.ts"
import type { Answer, Deliver } from "./Transport.ts"

/** Makes a socket; it may still be connecting. */
export type OpenSocket = (url: string, protocols: Array<string>) => Socket.WebSocketLike

// Longer than any answer that a server sends, so that only nonsense is refused.
const serialization = RpcSerialization.makeNdjson({ maxBufferSize: 2 * Wire.maxAnswerBytes })

/** A connection that is open. */
export interface Connection {
  /** Carries calls and answers until the connection ends; the error is for the calls whose answers are lost. */
  readonly carry: Effect.Effect<never, JobStoreError>
}

/** Opens a socket, for as long as the scope is open. A `SocketError` tells that the server let it not open, but not why. */
export const connect = Effect.fnUntraced(function* (
  settings: Settings,
  openSocket: OpenSocket,
  calls: Multiplexer,
  deliver: Deliver
): Effect.fn.Return<Connection, Socket.SocketError | JobStoreError, Scope.Scope> {
  const { endpoint, token } = settings
  const socket = yield* Effect.acquireRelease(
    Effect.try({
      try: () => openSocket(endpoint.websocket, subprotocols(token)),
      catch: (cause) => broken(endpoint.shown, `cannot be called over WebSocket here: ${describe(cause)}`)
    }),
    hangUp
  )
  const { reader } = yield* Socket.fromWebSocket(Effect.succeed(socket))
  const { pull } = yield* reader
  yield* Effect.acquireRelease(
    Effect.sync(() => calls.attach(socket)),
    () => Effect.sync(() => calls.detach())
  )
  const life = { heard: true }
  return {
    carry: Effect.raceFirst(
      receive(endpoint.shown, pull, life, calls, deliver),
      watch(endpoint.shown, settings.pingIntervalMs, life, calls)
    )
  }
})

// A socket that is closed before it has opened reports that as an error, which nobody else may be there to take.
const hangUp = (socket: Socket.WebSocketLike): Effect.Effect<void> =>
  Effect.sync(() => {
    socket.addEventListener("error", Function.constVoid)
    socket.close(1000)
  })

interface Life {
  /** Whether anything came since the last look. */
  heard: boolean
}

const receive = Effect.fnUntraced(function* (
  url: ShownUrl,
  pull: Socket.Reader["pull"],
  life: Life,
  calls: Multiplexer,
  deliver: Deliver
): Effect.fn.Return<never, JobStoreError> {
  const { decode } = serialization.makeUnsafe()
  while (true) {
    const frames = yield* Effect.mapError(pull, (error) => connectionLost(url, reasonOf(error)))
    life.heard = true
    for (const frame of frames) {
      const messages = yield* Effect.try({
        try: () => decode(frame),
        catch: () => broken(url, `sent something that is no message: ${describe(String(frame).slice(0, 80))}`)
      })
      for (const message of messages) {
        const failure = yield* take(url, message, calls, deliver)
        if (failure !== undefined) return yield* Effect.fail(failure)
      }
    }
  }
})

// One message from the server. Gives back an error when the whole connection is beyond use.
const take = (
  url: ShownUrl,
  message: unknown,
  calls: Multiplexer,
  deliver: Deliver
): Effect.Effect<JobStoreError | undefined> => {
  const tag = typeof message === "object" && message !== null && "_tag" in message ? message._tag : undefined
  switch (tag) {
    case "Exit": {
      // A message of that tag has this shape, or its contents fail to decode later on.
      const answer = message as Answer
      const call = calls.settle(answer.requestId)
      return call === undefined ? Effect.undefined : Effect.as(deliver(call.clientId, answer), undefined)
    }
    case "Pong":
      return Effect.undefined
    case "Defect":
      return Effect.succeed(broken(url, `failed: ${describe((message as { defect?: unknown }).defect)}`))
    default:
      return Effect.succeed(broken(url, `sent something that is no answer: ${describe(message)}`))
  }
}

// A connection whose other end has vanished stays open without a word. Two silent intervals in a row end it: after one
// alone, a program that was busy itself may not have come to read yet.
const watch = Effect.fnUntraced(function* (
  url: ShownUrl,
  intervalMs: number,
  life: Life,
  calls: Multiplexer
): Effect.fn.Return<never, JobStoreError> {
  let silent = 0
  while (true) {
    yield* sleep(intervalMs)
    silent = life.heard ? 0 : silent + 1
    if (silent === 2) return yield* Effect.fail(connectionLost(url, `no sign of life for ${2 * intervalMs} ms`))
    life.heard = false
    calls.ping()
  }
})

const reasonOf = ({ reason }: Socket.SocketError): string => {
  // Browsers tell no more than that there was an error.
  if (reason._tag !== "SocketCloseError") return "it broke"
  const words = reason.closeReason ? ` (${describe(reason.closeReason)})` : ""
  return `it was closed with code ${reason.code}${words}`
}
