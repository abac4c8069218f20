/** Acks that are made together stand each for itself: one that is refused is answered in its place, the others are carried out. */
import { Effect } from "effect"
import type { Refusal } from "./Checks.ts"
import type { Ack, AckResult } from "./Claim.ts"
import type { Service } from "./JobStore.ts"

/** An `ackMany` that hands on the acks that pass the check, and answers the others by their refusals. */
export const refusingEach =
  (ackMany: Service["ackMany"], check: (ack: Ack) => Refusal): Service["ackMany"] =>
  (acks) => {
    const refusals = acks.map(check)
    const good = acks.filter((_ack, index) => refusals[index] === undefined)
    if (good.length === acks.length) return ackMany(acks)
    const carriedOut = good.length === 0 ? Effect.succeed([]) : ackMany(good)
    return Effect.map(carriedOut, (results: ReadonlyArray<AckResult>) => {
      const left = results.values()
      // As many were left out of the call as are refused, so each of the others has its result.
      return refusals.map((refusal) => refusal ?? (left.next().value as AckResult))
    })
  }
