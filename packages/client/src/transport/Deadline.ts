/** One timer for the deadlines of all calls: a timer and fibers for each would cost a good part of what a call costs. */
import { Effect } from "effect"
import { now, sleep } from "../LiveClock.ts"
import type { CallList, OpenCall } from "./CallList.ts"

/**
 * Takes the calls out of the list that have been in it for so long, and ends them; for ever. It looks when the oldest call is
 * due: in an empty list none is due before a whole period has passed.
 */
export const expire = (
  list: CallList,
  afterMs: number,
  end: (calls: ReadonlyArray<OpenCall>) => Effect.Effect<void>
): Effect.Effect<never> =>
  Effect.forever(
    Effect.suspend(() => sleep((list.oldest ?? now()) + afterMs - now())).pipe(
      Effect.andThen(Effect.suspend(() => end(list.takeSince(now() - afterMs))))
    )
  )
