/**
 * Calls over one WebSocket that is opened again whenever it is lost. Calls made meanwhile wait for it; calls whose answers
 * were lost with it fail, and Tries.ts knows which may be made again.
 */
import { JobStoreError } from "@jobwire/protocol"
import { Effect, Latch, type Scope } from "effect"
import { RpcClient, type RpcMessage, RpcSerialization } from "effect/rpc"
import { broken, describe, noAnswer, unreachable } from "../Faults.ts"
import { live, now } from "../LiveClock.ts"
import type { Settings } from "../Options.ts"
import { backOff, longestDelayMs } from "../Patience.ts"
import type { OpenCall } from "./CallList.ts"
import { connect, type OpenSocket } from "./Connection.ts"
import { encodeMessage, Multiplexer } from "./Multiplexer.ts"
import { expire } from "./Deadline.ts"
import { type Deliver, failAll, failed, isOpenEnded, refuseLong, type Transport } from "./Transport.ts"

/** Asks a server that let no socket open what the reason is. */
export type AskWhy = Effect.Effect<JobStoreError>

/** A transport over a WebSocket, for as long as the scope is open. */
export const makeWebSocket = (
  settings: Settings,
  openSocket: OpenSocket,
  askWhy: AskWhy
): Effect.Effect<Transport, never, Scope.Scope> =>
  RpcClient.Protocol.make(
    Effect.fnUntraced(function* (deliver) {
      const line: Line = {
        settings,
        deliver,
        calls: new Multiplexer(),
        trouble: unreachable(settings.endpoint.shown, "it has not answered yet"),
        refusal: undefined,
        wanted: Latch.makeUnsafe(false)
      }
      yield* Effect.forkScoped(live(stayConnected(line, openSocket, askWhy)))
      yield* Effect.forkScoped(endOutages(line))
      yield* Effect.forkScoped(endSilences(line))
      return {
        send: (clientId, message) => Effect.suspend(() => send(line, clientId, message)),
        supportsAck: true,
        supportsTransferables: false,
        codecFor: RpcSerialization.ndjson.codecFor
      }
    })
  )

/** The calls of a store and the state of the connection under them. */
interface Line {
  readonly settings: Settings
  readonly deliver: Deliver
  readonly calls: Multiplexer
  /** Why there is no connection: for those who wait in vain. */
  trouble: JobStoreError
  /** Why calls are turned away at once: the server refused us a moment ago. */
  refusal: JobStoreError | undefined
  /** Open when a call has come that wants a connection. */
  readonly wanted: Latch.Latch
}

const send = (line: Line, clientId: number, message: RpcMessage.FromClientEncoded): Effect.Effect<void> => {
  if (message._tag === "Interrupt") line.calls.cancel(message.requestId)
  if (message._tag !== "Request") return Effect.void
  const text = encodeMessage(message)
  const refusal = line.refusal ?? refuseLong(message, text, line.settings.maxMessageBytes)
  if (refusal !== undefined) return line.deliver(clientId, failed(message.id, refusal))
  line.calls.submit({ clientId, id: message.id, message: text, openEnded: isOpenEnded(message) })
  line.wanted.openUnsafe()
  return Effect.void
}

const fail = (line: Line, calls: ReadonlyArray<OpenCall>, error: JobStoreError): Effect.Effect<void> =>
  failAll(line.deliver, calls, error)

// Connects, and connects again, for ever. After a refusal it tries only when a call comes that wants it.
const stayConnected = Effect.fnUntraced(function* (line: Line, openSocket: OpenSocket, askWhy: AskWhy) {
  let failures = 0
  while (true) {
    const heldMs = yield* connectOnce(line, openSocket, askWhy)
    if (heldMs > longestDelayMs) failures = 0
    yield* backOff(failures++)
    if (line.refusal === undefined) continue
    line.refusal = undefined
    yield* line.wanted.await
  }
})

// Runs one connection to its end, and tells for how long it held.
const connectOnce = Effect.fnUntraced(function* (line: Line, openSocket: OpenSocket, askWhy: AskWhy) {
  const url = line.settings.endpoint.shown
  let openedAt: number | undefined
  const lost = yield* connect(line.settings, openSocket, line.calls, line.deliver).pipe(
    Effect.catchTag("SocketError", () => Effect.flatMap(askWhy, Effect.fail)),
    Effect.tap(() => {
      openedAt = now()
      return Effect.void
    }),
    Effect.flatMap(({ carry }) => carry),
    Effect.scoped,
    Effect.catchDefect((defect) => Effect.fail(broken(url, `could not be used: ${describe(defect)}`))),
    Effect.flip
  )
  if (openedAt === undefined) {
    yield* notOpened(line, lost)
    return 0
  }
  line.trouble = unreachable(url, "the connection was lost and could not be made again yet")
  yield* fail(line, line.calls.takeSent(), lost)
  return now() - openedAt
})

const notOpened = (line: Line, why: JobStoreError): Effect.Effect<void> => {
  line.trouble = why
  if (why.isRetryable) return Effect.void
  line.refusal = why
  line.wanted.closeUnsafe()
  return fail(line, line.calls.unsent.takeAll(), why)
}

// Fails the calls that have waited too long for a connection.
const endOutages = (line: Line): Effect.Effect<never> => {
  const { outageTimeoutMs } = line.settings
  return expire(line.calls.unsent, outageTimeoutMs, (calls) => {
    const { message, reason } = line.trouble
    return fail(
      line,
      calls,
      new JobStoreError({ message: `no connection within ${outageTimeoutMs} ms: ${message}`, reason })
    )
  })
}

// Fails the calls that have gone unanswered for too long, and has the server give them up.
const endSilences = (line: Line): Effect.Effect<never> => {
  const { callTimeoutMs, endpoint } = line.settings
  return expire(line.calls.sent, callTimeoutMs, (calls) => {
    for (const call of calls) line.calls.abandon(call.id)
    return fail(line, calls, noAnswer(endpoint.shown, callTimeoutMs))
  })
}
