/** A caller that goes away: its call ends on the server, wherever it is. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { stubStore } from "../../../test/support/stub-store.ts"
import { errorOf, serve, ways } from "./support/jobwire.ts"
import { freePort } from "./support/misbehaving.ts"

/** A store in which a call begins, and does not end until it is interrupted. */
const endless = Effect.gen(function* () {
  const begun = yield* Deferred.make<void>()
  const interrupted = yield* Deferred.make<void>()
  const run = Deferred.succeed(begun, undefined).pipe(
    Effect.andThen(Effect.never),
    Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
  )
  return {
    store: stubStore({ counts: () => run, awaitWake: () => run, pausedQueues: () => Effect.succeed([]) }),
    begun: Deferred.await(begun),
    interrupted: Deferred.await(interrupted)
  }
})

describe.each(ways)("over $name", ({ make }) => {
  for (const name of ["counts", "awaitWake"] as const) {
    it.live(`interrupting ${name} interrupts it on the server, and its neighbours live`, () =>
      Effect.gen(function* () {
        const { begun, interrupted, store } = yield* endless
        const server = yield* serve(store)
        const remote = yield* make({ url: server.url })
        const call = name === "counts" ? remote.counts() : remote.awaitWake(["q"], "t")
        const fiber = yield* Effect.forkChild(call, { startImmediately: true })
        yield* begun
        yield* Fiber.interrupt(fiber)
        yield* interrupted
        assert.deepStrictEqual(yield* remote.pausedQueues(), [])
      })
    )
  }

  it.live("a deadline interrupts the call on the server", () =>
    Effect.gen(function* () {
      const { interrupted, store } = yield* endless
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url, callTimeout: 200 })
      const error = yield* errorOf(remote.counts())
      assert.deepInclude(error.reason, { _tag: "DeadlineExceeded", afterMs: 200 })
      yield* interrupted
    })
  )

  it.live("closing the store ends its calls by an error, here and on the server", () =>
    Effect.gen(function* () {
      const { begun, interrupted, store } = yield* endless
      const server = yield* serve(store)
      const { call, remote } = yield* Effect.scoped(
        Effect.gen(function* () {
          const remote = yield* make({ url: server.url })
          const call = yield* Effect.forkDetach(errorOf(remote.awaitWake(["q"], "t")), { startImmediately: true })
          yield* begun
          return { call, remote }
        })
      )
      yield* interrupted
      for (const error of [yield* Fiber.join(call), yield* errorOf(remote.counts())]) {
        assert.deepInclude(error.reason, { _tag: "Unavailable", sent: false })
        assert.include(error.message, "was closed")
      }
    })
  )

  it.live("a call that waits for a server that is gone can be interrupted at once", () =>
    Effect.gen(function* () {
      const remote = yield* make({ url: `http://127.0.0.1:${yield* freePort}` })
      const fiber = yield* Effect.forkChild(remote.counts(), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
    })
  )
})
