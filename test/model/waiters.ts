/** Waits that a history has parked, and whether they end when the model says so. */
import type { JobStore } from "@jobwire/protocol"
import { Cause, Data, type Duration, Effect, Exit, type Fiber, type Scope } from "effect"
import { TestClock } from "effect/testing"
import type { State, Wake } from "./state.ts"
import { endsBy, mayEnd, mustEnd, type Wait } from "./waits.ts"

/** How the waits of all histories went. */
export interface WaitCounts {
  /** Waits whose token had missed something. */
  atOnce: number
  /** Waits whose token had missed nothing. */
  parked: number
  /** Of those, the ones that ended by a call. */
  woken: number
  /** How often somebody had to be woken, by what woke. */
  readonly causes: Map<string, number>
  /** Of those, the ones that ended though nothing had happened in their queues since the claim, nor was the store opened. */
  early: number
  /** Waits that have not ended when they had to. */
  failed: number
}

/** What is wrong with a wait, in words: it has not ended, or has failed. */
export class WaitFault extends Data.TaggedError("WaitFault")<{ readonly problem: string }> {}

interface Parked {
  readonly wait: Wait
  readonly fiber: Fiber.Fiber<void, unknown>
}

// More would say no more.
const mostParked = 3

// By the machine's clock. Once a wait has failed, shrinking makes many more that fail.
const patience = (counts: WaitCounts): Duration.Input => (counts.failed === 0 ? "20 seconds" : "1 second")

const show = ({ wait }: Parked): string => `awaitWake([${wait.queues.join(", ")}], …)`

// Ends when so many of them have ended, whichever.
const ending = (waits: ReadonlyArray<Parked>, many: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    let left = many
    for (const { fiber } of waits) {
      fiber.addObserver(() => {
        if (--left === 0) resume(Effect.void)
      })
    }
  })

/** The waits of one history on one open store. */
export interface Waiters {
  /** Waits: until the end when the token has missed something, else in the background. Says which. */
  readonly wait: (state: State, wait: Wait) => Effect.Effect<string, WaitFault>
  /** Sees that those have ended whom these wakes must wake, and what became of the others. */
  readonly see: (state: State, wakes: ReadonlyArray<Wake>, cause: string) => Effect.Effect<void, WaitFault>
}

/** Waits that end with the scope, on a store that was opened in this state. */
export const make = (store: JobStore.Service, scope: Scope.Scope, opened: State, counts: WaitCounts): Waiters => {
  const isOlder = ({ token }: Wait): boolean => opened.wakeTokens.some((each) => each.token === token)
  let parked: ReadonlyArray<Parked> = []

  const start = (wait: Wait) =>
    Effect.map(
      Effect.forkIn(store.awaitWake(wait.queues, wait.token), scope, { startImmediately: true }),
      (fiber): Parked => ({ wait, fiber })
    )

  // A call that comes behind it: most likely the store has heard of the wait by then, so that it is parked and not late.
  const park = (wait: Wait) => Effect.tap(start(wait), () => Effect.exit(store.counts("idle")))

  const insist = (waits: ReadonlyArray<Parked>, many: number, why: string): Effect.Effect<void, WaitFault> =>
    many === 0
      ? Effect.void
      : Effect.raceFirst(
          ending(waits, many),
          Effect.flatMap(TestClock.withLive(Effect.sleep(patience(counts))), () => {
            counts.failed++
            return new WaitFault({ problem: `${waits.map(show).join(", ")}: too few have ended, though ${why}` })
          })
        )

  const settle = Effect.fnUntraced(function* (state: State) {
    for (const each of parked) {
      const exit = each.fiber.pollUnsafe()
      if (exit === undefined) continue
      if (Exit.isFailure(exit))
        yield* new WaitFault({ problem: `${show(each)} has failed: ${Cause.pretty(exit.cause)}` })
      counts[mayEnd(state, each.wait) || isOlder(each.wait) ? "woken" : "early"]++
    }
    parked = parked.filter(({ fiber }) => fiber.pollUnsafe() === undefined)
  })

  const wait = Effect.fnUntraced(function* (state: State, wait: Wait) {
    if (mustEnd(state, wait)) {
      counts.atOnce++
      yield* insist([yield* start(wait)], 1, "its token has missed something")
      return "ends"
    }
    if (parked.length >= mostParked) return "is left out: enough wait already"
    counts.parked++
    parked = [...parked, yield* park(wait)]
    return "waits"
  })

  const see = Effect.fnUntraced(function* (state: State, wakes: ReadonlyArray<Wake>, cause: string) {
    for (const same of Map.groupBy(wakes, ({ name, queue }) => JSON.stringify([queue, name])).values()) {
      const called = parked.filter(({ wait }) => same.some((wake) => endsBy(state, wait, wake)))
      // One job wakes one waiter, the end of a pause all of them.
      const isOfAll = same.some(({ name }) => name === undefined)
      const many = isOfAll ? called.length : same.filter(({ sure }) => sure).length
      if (called.length > 0) counts.causes.set(cause, (counts.causes.get(cause) ?? 0) + 1)
      yield* insist(called, Math.min(many, called.length), "something became claimable")
    }
    yield* settle(state)
  })

  return { wait, see }
}
