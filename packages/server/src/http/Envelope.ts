/**
 * The messages of effect/rpc as they come from a peer, checked and stripped. Only what the protocol needs is kept: of the headers
 * inside a message the key of its call, so nothing behind the door can mistake others for those of the request.
 */
import { Call } from "@jobwire/protocol"
import type { RpcMessage } from "effect/rpc"

/** A message, or what is wrong with it; `id` when it names a call that can be answered. */
export type Read =
  | { readonly message: RpcMessage.FromClientEncoded }
  | { readonly problem: string; readonly id: string | number | undefined }

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

// JSON text may hold a number like 1e400, which is read as infinite and could not be written into the answer.
const isId = (value: unknown): value is string | number =>
  (typeof value === "number" && Number.isFinite(value)) || (typeof value === "string" && value.length <= 128)

const badKey = `the header ${Call.header} holds the key of a call: up to ${Call.longestKey} letters, digits, "-" and "_"`

/** The key among the headers of a message; a key that is no text reads as an empty one, which is none. */
const keyIn = (headers: unknown): string | undefined => {
  if (!Array.isArray(headers)) return undefined
  const found: unknown = headers.find((header) => Array.isArray(header) && header[0] === Call.header)
  if (!Array.isArray(found)) return undefined
  const [, key]: ReadonlyArray<unknown> = found
  return typeof key === "string" ? key : ""
}

const readRequest = (value: Readonly<Record<string, unknown>>): Read => {
  const { headers, id, payload, sampled, spanId, tag, traceId } = value
  if (!isId(id)) return { problem: "a Request needs an id, a number or a string", id: undefined }
  if (typeof tag !== "string") return { problem: "a Request needs a tag, the name of the operation", id }
  const key = keyIn(headers)
  if (key !== undefined && !Call.isKey(key)) return { problem: badKey, id }
  const own: ReadonlyArray<[string, string]> = key === undefined ? [] : [[Call.header, key]]
  const request = { _tag: "Request", id, tag, payload, headers: own } as const
  return typeof traceId === "string" && typeof spanId === "string"
    ? { message: { ...request, traceId, spanId, sampled: sampled === true } }
    : { message: request }
}

/** Checks one message. */
export const read = (value: unknown): Read => {
  if (!isRecord(value)) return { problem: "a message is a JSON object", id: undefined }
  switch (value._tag) {
    case "Request":
      return readRequest(value)
    case "Ack":
    case "Interrupt":
      return isId(value.requestId)
        ? { message: { _tag: value._tag, requestId: value.requestId } }
        : { problem: `${value._tag} needs a requestId, a number or a string`, id: undefined }
    case "Ping":
    case "Eof":
      return { message: { _tag: value._tag } }
    default:
      return { problem: "the _tag of a message is Request, Ack, Interrupt, Ping or Eof", id: undefined }
  }
}

/** The answer to a call whose message is broken. */
export const brokenCall = (id: string | number, problem: string): RpcMessage.FromServerEncoded => ({
  _tag: "Exit",
  requestId: id,
  exit: { _tag: "Failure", cause: [{ _tag: "Die", defect: problem }] }
})
