/** Late repeats: bytes that are kept for a while, as far as there is room for them. */
import { Effect } from "effect"
import type { Workings } from "./Workings.ts"

/** Does something with the bytes after so many milliseconds, whatever has become of the connection they came from. */
export const later = (
  workings: Workings,
  n: number,
  bytes: Buffer,
  ms: number,
  deliver: (bytes: Buffer) => Effect.Effect<void>
): void => {
  if (!workings.hold(bytes.length)) {
    workings.log.skipped(n, "as much as may be held is held already (heldBytes)")
    return
  }
  const work = Effect.sleep(ms).pipe(
    Effect.andThen(Effect.suspend(() => deliver(bytes))),
    Effect.ensuring(Effect.sync(() => workings.letGo(bytes.length)))
  )
  workings.run(workings.outstanding.while(work))
}

/** Why a message is not repeated. */
export const tooBig = "it is bigger than what is repeated (copyBytes)"
