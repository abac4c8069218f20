/** Messages that reach a server over a connection of their own, as those of a client do that has lost its first one. */
import { Effect, type Scope } from "effect"
import { nextChunk } from "../Reading.ts"
import { Trouble } from "../upstream/Call.ts"
import type { RequestHead } from "../upstream/Head.ts"
import type { Upstreams } from "../upstream/Upstreams.ts"
import { Splitter } from "./Splitter.ts"

/** How long an answer is waited for: a server may have none to give. */
const patienceMs = 2000

/** Opens a WebSocket to the next server by the same request, and gives the socket behind its answer. */
const open = Effect.fnUntraced(function* (upstreams: Upstreams, head: RequestHead) {
  const call = yield* upstreams.openAlone(head)
  call.request.end()
  const answer = yield* call.answer
  if (answer._tag === "Response") {
    answer.message.destroy()
    return yield* Effect.fail(
      new Trouble({
        message: `${call.upstream.name}: a second connection was refused with ${answer.message.statusCode}`
      })
    )
  }
  const { first, socket } = answer
  yield* Effect.addFinalizer(() => Effect.sync(() => void socket.destroy()))
  socket.on("error", () => undefined)
  if (first.length > 0) socket.unshift(first)
  return socket
})

/** Sends a message, and gives the first one that comes back, if one does in time and is no longer than this many bytes. */
export const sendApart = Effect.fnUntraced(function* (
  upstreams: Upstreams,
  head: RequestHead,
  message: Buffer,
  limit: number
): Effect.fn.Return<Buffer | undefined, Trouble, Scope.Scope> {
  const socket = yield* open(upstreams, head)
  socket.write(message)
  const answer = Effect.gen(function* () {
    const splitter = new Splitter()
    const pieces: Array<Buffer> = []
    let size = 0
    while (true) {
      const chunk = yield* nextChunk(socket)
      if (chunk === undefined) return undefined
      for (const { bytes, ends, isControl } of splitter.take(chunk)) {
        if (isControl) continue
        size += bytes.length
        if (size <= limit) pieces.push(bytes)
        if (ends) return size <= limit ? Buffer.concat(pieces) : undefined
      }
    }
  })
  return yield* Effect.raceFirst(answer, Effect.as(Effect.sleep(patienceMs), undefined))
})
