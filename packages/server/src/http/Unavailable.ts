/** A call that the server does not take now, with a hint when to try again: another time for everybody who is refused. */
import { JobStoreError } from "@jobwire/protocol"
import { Effect, Random } from "effect"

/** Fails with a time to try again that is drawn from the first so many milliseconds. Nothing was done. */
export const unavailable = (message: string, withinMs: number): Effect.Effect<never, JobStoreError> =>
  Effect.flatMap(Random.next, (part) =>
    Effect.fail(
      new JobStoreError({
        message,
        reason: { _tag: "Unavailable", url: undefined, sent: false, retryAfterMs: Math.ceil(part * withinMs) }
      })
    )
  )
