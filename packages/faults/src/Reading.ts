/** Bytes from streams: as they are asked for, recorded while they pass, or thrown away. */
import { Deferred, Effect } from "effect"
import type { Readable } from "node:stream"

/** The next bytes of a stream, or nothing when it has ended or broken off. Nobody else may read it. */
export const nextChunk = (from: Readable): Effect.Effect<Buffer | undefined> =>
  Effect.callback((resume) => {
    const stop = () => {
      from.off("readable", look).off("end", end).off("close", end).off("error", end)
    }
    const done = (chunk: Buffer | undefined) => {
      stop()
      resume(Effect.succeed(chunk))
    }
    const end = () => done(undefined)
    const look = () => {
      // Streams without an encoding give bytes.
      const chunk = from.read() as Buffer | null
      if (chunk !== null) done(chunk)
    }
    if (from.readableEnded || from.destroyed) return end()
    from.on("readable", look).on("end", end).on("close", end).on("error", end)
    look()
    return Effect.sync(stop)
  })

/** All bytes of a stream, or the stream itself, with nothing taken from it, when there are more of them than this. */
export const gather = Effect.fnUntraced(function* <S extends Readable>(from: S, limit: number) {
  const chunks: Array<Buffer> = []
  let size = 0
  while (true) {
    const chunk = yield* nextChunk(from)
    if (chunk === undefined) return Buffer.concat(chunks)
    chunks.push(chunk)
    size += chunk.length
    if (size <= limit) continue
    from.unshift(Buffer.concat(chunks))
    return from
  }
})

/**
 * Keeps what passes while others read a stream. Resolves at its end with all of it, or with nothing when there was more than the
 * limit or it broke off. Begins at once.
 */
export const record = (from: Readable, limit: number): Effect.Effect<Buffer | undefined> => {
  const recorded = Deferred.makeUnsafe<Buffer | undefined>()
  const done = (bytes: Buffer | undefined) => Deferred.doneUnsafe(recorded, Effect.succeed(bytes))
  let chunks: Array<Buffer> = []
  let size = 0
  from.on("data", (chunk: Buffer) => {
    size += chunk.length
    if (size <= limit) {
      chunks.push(chunk)
    } else {
      chunks = []
      done(undefined)
    }
  })
  from.once("end", () => done(Buffer.concat(chunks)))
  from.once("close", () => done(undefined))
  return Deferred.await(recorded)
}

/** Reads a stream to its end and throws away what it reads. */
export const drain = (from: Readable): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const end = () => resume(Effect.void)
    if (from.readableEnded || from.destroyed) return end()
    from.once("end", end).once("close", end).on("error", end)
    from.resume()
  })

/** The part of some bytes that gets through before a cut: at least one, and never all. */
export const partOf = (bytes: Buffer, share: number): Buffer =>
  bytes.subarray(0, Math.max(1, Math.min(bytes.length - 1, Math.floor(bytes.length * share))))
