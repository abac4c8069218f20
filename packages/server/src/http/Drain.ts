/**
 * Stopping without losing anything: once it has begun, parked waits end, new work is refused, and what runs may finish
 * within a grace time. Then the sockets close.
 */
import { Context, Deferred, Duration, Effect, Layer, Random } from "effect"
import { sleep } from "../LiveClock.ts"

/** How long calls in flight may take once the server stops, unless an option says otherwise. */
export const defaultGrace: Duration.Input = "5 seconds"

/**
 * Over how many milliseconds so many waits end, so that who waited does not come to the other servers in one moment: one for
 * each, and no more than a second or half the grace.
 */
export const spreadOf = (waits: number, graceMs: number): number => Math.min(waits, 1000, graceMs / 2)

/** The state of a server that is up or stopping. */
export class Drain extends Context.Service<
  Drain,
  {
    /** Whether the server is stopping. */
    readonly hasBegun: () => boolean
    /** Resolves when a wait is to end as the server stops: each at a moment of its own, none long after the stop begins. */
    readonly endOfWait: Effect.Effect<void>
    /** One more call, or one less, whose answer is still to be sent. */
    readonly running: (change: number) => void
    /** Has something done when all answers are sent or the grace is over. Answers with a way to take it back. */
    readonly onFinish: (finish: Effect.Effect<void>) => () => void
    /** Stops the server as this module says, and resolves when all that was to finish has. Once only; then waits along. */
    readonly run: Effect.Effect<void>
  }
>()("@jobwire/server/Drain") {}

/** A drain that has not begun. */
export const make = Effect.fnUntraced(function* (grace: Duration.Input = defaultGrace) {
  const random = yield* Random.Random
  // A set, and not a Deferred, which looks through all who wait when one of them leaves.
  const waiting = new Set<() => void>()
  const idle = yield* Deferred.make<void>()
  const finishers = new Set<Effect.Effect<void>>()
  let hasBegun = false
  let count = 0
  const settle = () => {
    if (hasBegun && count === 0) Deferred.doneUnsafe(idle, Effect.void)
  }
  const run = Effect.gen(function* () {
    hasBegun = true
    const spread = spreadOf(waiting.size, Duration.toMillis(grace))
    for (const end of waiting) setTimeout(end, random.nextDoubleUnsafe() * spread)
    settle()
    yield* Effect.raceFirst(Deferred.await(idle), sleep(grace))
    yield* Effect.forEach(finishers, (finish) => finish, { discard: true, concurrency: "unbounded" })
  })
  return Drain.of({
    hasBegun: () => hasBegun,
    endOfWait: Effect.callback((resume) => {
      if (hasBegun) return resume(Effect.void)
      const end = () => resume(Effect.void)
      waiting.add(end)
      return Effect.sync(() => waiting.delete(end))
    }),
    running: (change) => {
      count += change
      settle()
    },
    onFinish: (finish) => {
      finishers.add(finish)
      return () => finishers.delete(finish)
    },
    run: yield* Effect.cached(Effect.uninterruptible(run))
  })
})

/** The drain of one server. */
export const layer = (grace?: Duration.Input): Layer.Layer<Drain> => Layer.effect(Drain, make(grace))
