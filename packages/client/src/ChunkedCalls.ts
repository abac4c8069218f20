/** Cutting a call about many items into several. The items are independent and in order, so several calls do what one would. */
import { Call, JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import { chunksOf } from "./Chunks.ts"

const chunkLength = 1000

/** A bound of an item's size on the wire, where it is as in memory, without what is `undefined`. */
// No UTF-16 unit takes more than three bytes.
export const bytesAtMost = (item: object): number => JSON.stringify(item).length * 3

/**
 * Calls for chunk after chunk; answers by position. When one fails, the error tells of those that went before it: `done` reads
 * on after "the first 5 of 9".
 */
export const callInChunks = Effect.fnUntraced(function* <Item extends object, Result>(
  items: ReadonlyArray<Item>,
  maxMessageBytes: number,
  done: string,
  call: (chunk: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Result>, JobStoreError>
): Effect.fn.Return<ReadonlyArray<Result>, JobStoreError> {
  const results: Array<Result> = []
  // Other calls share the connection, and should not stand behind a long one.
  const limits = { length: chunkLength, bytes: maxMessageBytes / 4 }
  for (const chunk of chunksOf(items, limits, bytesAtMost)) {
    const answered = yield* Effect.mapError(underOwnKey(call(chunk), results.length), (error) =>
      results.length === 0 ? error : afterChunks(error, `the first ${results.length} of ${items.length} ${done}`)
    )
    results.push(...answered)
  }
  return results
})

// A key stands for one call.
const underOwnKey = <A, E>(call: Effect.Effect<A, E>, position: number): Effect.Effect<A, E> =>
  position === 0
    ? call
    : Effect.updateService(call, Call.CurrentCall, (key) =>
        key === undefined ? undefined : `${key.slice(0, Call.longestKey - 12)}-${position}`
      )

const afterChunks = (error: JobStoreError, done: string): JobStoreError =>
  new JobStoreError({
    message: `${done}, then: ${error.message}`,
    // What was done cannot be undone by trying the whole again.
    reason: error.reason._tag === "Unavailable" ? { ...error.reason, sent: true } : error.reason
  })
