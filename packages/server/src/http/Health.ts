/** What a process supervisor and a load balancer ask: does the process live, and would it take work now. */
import { Clock, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { defaultStoreId, JobStores } from "../JobStores.ts"
import { Drain } from "./Drain.ts"
import * as LiveClock from "../LiveClock.ts"
import * as Problem from "./Problem.ts"

/** How long the store may take to say that it is there. */
const patience = "2 seconds"

/** How long an answer of the store is good for: anybody may ask, and must not keep the store busy with it. */
const fresh = "1 second"

const retryAfterSeconds = 1

const respond = (status: string) =>
  HttpServerResponse.jsonUnsafe({ status }, { headers: { "cache-control": "no-store" } })

/** The process lives. */
export const livez = Effect.sync(() => respond("alive"))

/** The server takes work: it is not stopping and its store answers. */
export const makeReadyz = Effect.gen(function* () {
  const stores = yield* JobStores
  const drain = yield* Drain
  const clock = yield* Clock.Clock
  const ask = stores.get(defaultStoreId).pipe(
    Effect.flatMap((store) => store.pausedQueues()),
    Effect.as(true),
    Effect.raceFirst(Effect.as(LiveClock.sleep(patience), false)),
    Effect.catchCause((cause) => Effect.as(Effect.logWarning("the store does not answer", cause), false)),
    Effect.provideService(Clock.Clock, clock)
  )
  const isReady = yield* Effect.cachedWithTTL(ask, fresh).pipe(
    Effect.map(Effect.provideService(Clock.Clock, LiveClock.clock))
  )
  return Effect.suspend(() =>
    drain.hasBegun()
      ? Effect.succeed(Problem.unavailable("The server is stopping.", retryAfterSeconds))
      : Effect.map(isReady, (ready) =>
          ready ? respond("ready") : Problem.unavailable("The store does not answer.", retryAfterSeconds)
        )
  )
})
