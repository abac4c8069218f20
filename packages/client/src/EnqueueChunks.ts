/** Cutting an `enqueueMany` into calls. Its items are independent and in order, so several calls do what one would. */
import { type EnqueueRequest, type EnqueueResult, JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import { chunksOf } from "./Chunks.ts"

const chunkLength = 1000

// A request is on the wire as it is in memory, without what is `undefined`. No UTF-16 unit takes more than three bytes.
const bytesAtMost = (request: EnqueueRequest): number => JSON.stringify(request).length * 3

/** Enqueues chunk after chunk. When one fails, the error tells of those that went before it. */
export const enqueueInChunks = Effect.fnUntraced(function* (
  requests: ReadonlyArray<EnqueueRequest>,
  maxMessageBytes: number,
  enqueueMany: (chunk: ReadonlyArray<EnqueueRequest>) => Effect.Effect<ReadonlyArray<EnqueueResult>, JobStoreError>
): Effect.fn.Return<ReadonlyArray<EnqueueResult>, JobStoreError> {
  const results: Array<EnqueueResult> = []
  // Other calls share the connection, and should not stand behind a long one.
  const limits = { length: chunkLength, bytes: maxMessageBytes / 4 }
  for (const chunk of chunksOf(requests, limits, bytesAtMost)) {
    const done = yield* Effect.mapError(enqueueMany(chunk), (error) =>
      afterChunks(error, results.length, requests.length)
    )
    results.push(...done)
  }
  return results
})

const afterChunks = (error: JobStoreError, done: number, of: number): JobStoreError =>
  done === 0
    ? error
    : new JobStoreError({
        message: `the first ${done} of ${of} requests were enqueued, then: ${error.message}`,
        // What was done cannot be undone by trying the whole again.
        reason: error.reason._tag === "Unavailable" ? { ...error.reason, sent: true } : error.reason
      })
