/** Bytes from streams: as they are asked for, recorded while they pass, or thrown away. */
import { Deferred, Effect } from "effect"
import type { Readable } from "node:stream"
import type { Copy } from "./Copy.ts"

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

/** All bytes of a stream, or the stream itself, with nothing taken from it, when there are more of them than the copy has room for. */
export const gather = Effect.fnUntraced(function* <S extends Readable>(from: S, copy: Copy) {
  const chunks: Array<Buffer> = []
  while (true) {
    const chunk = yield* nextChunk(from)
    if (chunk === undefined) return Buffer.concat(chunks)
    chunks.push(chunk)
    if (copy.add(chunk)) continue
    from.unshift(Buffer.concat(chunks))
    return from
  }
})

/** Copies what passes while others read a stream; begins at once. Resolves when it has ended, or has no room: whether all is there. */
export const record = (from: Readable, copy: Copy): Effect.Effect<boolean> => {
  const recorded = Deferred.makeUnsafe<boolean>()
  const done = (isWhole: boolean) => Deferred.doneUnsafe(recorded, Effect.succeed(isWhole))
  from.on("data", (chunk: Buffer) => {
    if (!copy.add(chunk)) done(false)
  })
  from.once("end", () => done(copy.isWhole))
  from.once("close", () => done(false))
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
