/**
 * What the two transports share. A transport carries the messages of `effect/rpc`; what goes wrong on the way it answers
 * itself, with the exit that the server would have sent for that error.
 */
import { JobStoreError, Json, limitExceeded } from "@jobwire/protocol"
import { Effect, Schema } from "effect"
import type { RpcClient, RpcMessage } from "effect/rpc"
import type { OpenCall } from "./CallList.ts"

/** The protocol of an RPC client. */
export type Transport = RpcClient.Protocol["Service"]

/** The message of one call. */
export type Call = RpcMessage.RequestEncoded

/** The message that ends one call. */
export type Answer = RpcMessage.ResponseExitEncoded

/** Hands an answer to the RPC client that made the call. */
export type Deliver = (clientId: number, answer: RpcMessage.FromServerEncoded) => Effect.Effect<void>

/** Whether the call is answered only when something happens, so that no deadline holds for it. */
export const isOpenEnded = (call: Call): boolean => call.tag === "awaitWake"

const encodeError = Schema.encodeSync(Schema.toCodecJson(JobStoreError))

/** The answer to a call that failed on its way. Every operation may fail with this error. */
export const failed = (requestId: string | number, error: JobStoreError): Answer => ({
  _tag: "Exit",
  requestId,
  exit: { _tag: "Failure", cause: [{ _tag: "Fail", error: encodeError(error) }] }
})

/** Ends calls that are still open by one error. */
export const failAll = (deliver: Deliver, calls: ReadonlyArray<OpenCall>, error: JobStoreError): Effect.Effect<void> =>
  Effect.forEach(calls, (call) => deliver(call.clientId, failed(call.id, error)), { discard: true })

/** Why a call is not sent at all: its message is longer than the server takes, and would end all calls beside it. */
export const refuseLong = (call: Call, message: string, limit: number): JobStoreError | undefined => {
  // No UTF-16 unit takes more than three bytes.
  if (message.length * 3 <= limit) return undefined
  const size = Json.utf8Length(message)
  return size > limit ? limitExceeded(`the message of ${call.tag}`, size, limit, "bytes") : undefined
}
