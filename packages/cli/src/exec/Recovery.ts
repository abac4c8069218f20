/** Bringing back the jobs of workers that are gone. */
import { Effect } from "effect"
import { noteCall, type WorkerContext } from "./WorkerContext.ts"

const longestMs = 15_000
const shortestMs = 500

/** Takes back jobs whose lease has run out, at once and then every half lease (at most 15 s), for ever. */
export const recoverForever = (context: WorkerContext): Effect.Effect<never> => {
  const { leaseMs, maxStalled, report } = context.options
  const recover = context.store.recoverStalled({ maxStalledCount: maxStalled }).pipe(
    Effect.flatMap((recovered) =>
      Effect.sync(() => recovered.forEach(({ failed, id }) => report({ _tag: "Recovered", id, failed })))
    ),
    Effect.catch((error) => noteCall(context, error))
  )
  // After an outage our own jobs come first: given back in time, they have not stalled.
  const once = Effect.suspend(() => (context.owed > 0 ? Effect.void : recover))
  return Effect.forever(Effect.andThen(once, Effect.sleep(Math.min(Math.max(leaseMs / 2, shortestMs), longestMs))))
}
