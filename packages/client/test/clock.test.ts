/** A test's virtual clock may jump by hours: no deadline fires and no connection breaks, as those are on the machine's own. */
import { assert, describe, it } from "@effect/vitest"
import { EnqueueRequest, JobStore } from "@jobwire/protocol"
import { MemoryJobStore } from "@jobwire/server"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { stubStore } from "../../../test/support/stub-store.ts"
import { errorOf, serve, ways } from "./support/jobwire.ts"
import { freePort } from "./support/misbehaving.ts"

describe.each(ways)("over $name", ({ make }) => {
  it.effect("calls in flight and parked waits outlive a jump of hours", () =>
    Effect.gen(function* () {
      const answer = yield* Deferred.make<void>()
      const begun = { counts: yield* Deferred.make<void>(), awaitWake: yield* Deferred.make<void>() }
      const store = stubStore({
        pausedQueues: () =>
          Effect.andThen(Deferred.succeed(begun.counts, undefined), Effect.as(Deferred.await(answer), ["q"])),
        awaitWake: () => Effect.andThen(Deferred.succeed(begun.awaitWake, undefined), Deferred.await(answer))
      })
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url })
      const call = yield* Effect.forkChild(remote.pausedQueues(), { startImmediately: true })
      const wait = yield* Effect.forkChild(remote.awaitWake(["q"], "t"), { startImmediately: true })
      yield* Deferred.await(begun.counts)
      yield* Deferred.await(begun.awaitWake)
      for (let hour = 0; hour < 5; hour++) yield* TestClock.adjust("1 hour")
      yield* Deferred.succeed(answer, undefined)
      assert.deepStrictEqual(yield* Fiber.join(call), ["q"])
      yield* Fiber.join(wait)
    })
  )

  it.effect("jobs live on the virtual clock: a delayed one comes due by it", () =>
    Effect.gen(function* () {
      const store = yield* Effect.provide(JobStore.JobStore, MemoryJobStore.layer)
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url })
      yield* remote.enqueue(EnqueueRequest.make({ name: "n", queue: "q", payload: 1, delayMs: 3_600_000 }))
      const claim = { queue: "q", names: ["n"], lockDurationMs: 1_000 }
      assert.strictEqual((yield* remote.claim({ ...claim, token: "1" }))._tag, "Empty")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* remote.claim({ ...claim, token: "2" }))._tag, "Claimed")
    })
  )

  it.effect("deadlines and outages end calls though the virtual clock stands still", () =>
    Effect.gen(function* () {
      const server = yield* serve(stubStore({ counts: () => Effect.never }))
      const slow = yield* make({ url: server.url, callTimeout: 100 })
      assert.strictEqual((yield* errorOf(slow.counts())).reason._tag, "DeadlineExceeded")
      const lost = yield* make({ url: `http://127.0.0.1:${yield* freePort}`, outageTimeout: 100 })
      assert.strictEqual((yield* errorOf(lost.counts())).reason._tag, "Unavailable")
    })
  )
})
