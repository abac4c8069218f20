/** Connections that end in the middle of a request or an answer. */
import { Effect, type Scope } from "effect"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { drain, nextChunk, partOf } from "../Reading.ts"
import type { Trouble } from "../upstream/Call.ts"
import { answerBytes, type RawHeaders, type RequestHead, requestBytes } from "../upstream/Head.ts"
import type { Upstreams } from "../upstream/Upstreams.ts"

const isChunked = (headers: RawHeaders): boolean =>
  headers.some((name, at) => at % 2 === 0 && name.toLowerCase() === "transfer-encoding")

/** The first bytes of a body as they stand on the wire. */
const framed = (headers: RawHeaders, chunk: Buffer | undefined): ReadonlyArray<Buffer> => {
  if (chunk === undefined) return []
  return isChunked(headers) ? [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk] : [chunk]
}

/** Writes a part and ends the connection, once the part is on its way. */
export const writePart = (socket: Socket, bytes: Buffer, share: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const done = () => {
      socket.destroy()
      resume(Effect.void)
    }
    if (socket.destroyed) return done()
    socket.once("close", done)
    socket.write(partOf(bytes, share), done)
  })

/** A server gets the beginning of the request; then both connections end. */
export const cutRequest = Effect.fnUntraced(function* (
  upstreams: Upstreams,
  head: RequestHead,
  request: IncomingMessage,
  share: number
): Effect.fn.Return<void, Trouble, Scope.Scope> {
  const chunk = yield* nextChunk(request)
  const socket = yield* upstreams.connect
  yield* writePart(socket, Buffer.concat([requestBytes(head), ...framed(head.headers, chunk)]), share)
  request.socket.destroy()
})

/** The client gets the beginning of the answer; then its connection ends. The server has done its work. */
export const cutAnswer = Effect.fnUntraced(function* (
  request: IncomingMessage,
  answer: IncomingMessage,
  share: number
) {
  const chunk = yield* nextChunk(answer)
  yield* writePart(request.socket, Buffer.concat([answerBytes(answer), ...framed(answer.rawHeaders, chunk)]), share)
  yield* drain(answer)
})
