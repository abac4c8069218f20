/** How long to wait before trying again, and when to stop trying. */
import { Effect, Random } from "effect"
import { now, sleep } from "./LiveClock.ts"

const firstDelayMs = 100

/** No two tries are further apart than this. What held longer than this was no failure at once. */
export const longestDelayMs = 5_000

/**
 * Waits before the next try: a random part ("full jitter") of a time that doubles with every failure in a row, so that a
 * thousand clients do not come back to a restarted server in the same moment.
 */
export const backOff = (failures: number): Effect.Effect<void> =>
  Effect.flatMap(Random.next, (part) => sleep(part * Math.min(longestDelayMs, firstDelayMs * 2 ** failures)))

/** When to try again: after which errors, and for how long since the first failure in a row. */
export interface Persistence<E> {
  readonly while: (error: E) => boolean
  readonly forMs: number
  /** When the server has said in how many milliseconds to try again; it draws another time for everybody. */
  readonly hintOf?: (error: E) => number | undefined
  /** A try that lasted this long before it failed starts a new row. */
  readonly forgetAfterMs?: number
}

/** Tries until it succeeds, fails in a way that another try does not help, or has failed for too long. */
export const insist = Effect.fnUntraced(function* <A, E, R>(
  attempt: Effect.Effect<A, E, R>,
  persistence: Persistence<E>
): Effect.fn.Return<A, E, R> {
  const forget = persistence.forgetAfterMs ?? Number.POSITIVE_INFINITY
  let failures = 0
  let failingSince = now()
  while (true) {
    const started = now()
    const exit = yield* Effect.result(attempt)
    if (exit._tag === "Success") return exit.success
    if (now() - started > forget) {
      failures = 0
      failingSince = now()
    }
    if (!persistence.while(exit.failure) || now() - failingSince > persistence.forMs)
      return yield* Effect.fail(exit.failure)
    const hint = persistence.hintOf?.(exit.failure)
    yield* hint === undefined ? backOff(failures++) : sleep(Math.min(hint, longestDelayMs))
  }
})
