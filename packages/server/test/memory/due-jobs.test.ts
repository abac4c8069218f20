/** A claim that finds delayed jobs due calls the takers of those that it leaves, and nobody else. */
import { EnqueueRequest, JobStore } from "@jobwire/protocol"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as MemoryJobStore from "../../src/drivers/memory/MemoryJobStore.ts"

const claim = (token: string, names = ["a"]) => ({ queue: "queue", names, token, lockDurationMs: 60_000 })

const delayed = (name: string) => EnqueueRequest.make({ name, queue: "queue", payload: null, delayMs: 1_000 })

/** A waiter for jobs of the name "a", parked since before any was due. */
const park = Effect.fnUntraced(function* (store: JobStore.Service) {
  const found = yield* store.claim(claim("waiter"))
  if (found._tag === "Claimed") return assert.fail("there was a job to claim")
  const waiter = { woken: false }
  const wait = Effect.andThen(
    store.awaitWake(["queue"], found.wakeToken),
    Effect.sync(() => {
      waiter.woken = true
    })
  )
  yield* Effect.forkChild(wait)
  yield* Effect.yieldNow
  return waiter
})

const run = <A, E>(body: (store: JobStore.Service) => Effect.Effect<A, E>) =>
  Effect.flatMap(JobStore.JobStore, body).pipe(Effect.provide(MemoryJobStore.layer, { local: true }))

describe("a claim that promotes", () => {
  for (const [rule, due, expected] of [
    ["calls nobody for the job that it takes itself", ["a"], false],
    ["calls a taker for a job that it leaves", ["a", "a"], true],
    ["calls nobody of another name", ["a", "b"], false]
  ] as const) {
    it.effect(rule, () =>
      run((store) =>
        Effect.gen(function* () {
          yield* store.enqueueMany(due.map(delayed))
          const waiter = yield* park(store)
          yield* TestClock.adjust(1_000)
          assert.strictEqual((yield* store.claim(claim("taker")))._tag, "Claimed")
          assert.strictEqual(waiter.woken, expected)
        })
      )
    )
  }

  it.effect("calls takers also when it is a repeat and takes nothing new", () =>
    run((store) =>
      Effect.gen(function* () {
        yield* store.enqueue(EnqueueRequest.make({ name: "a", queue: "queue", payload: null }))
        yield* store.claim(claim("taker"))
        yield* store.enqueue(delayed("a"))
        const waiter = yield* park(store)
        yield* TestClock.adjust(1_000)
        yield* store.claim(claim("taker"))
        assert.isTrue(waiter.woken)
      })
    )
  )

  it.effect("calls nobody while the queue is paused", () =>
    run((store) =>
      Effect.gen(function* () {
        yield* store.enqueueMany([delayed("a"), delayed("a")])
        const waiter = yield* park(store)
        yield* store.pause("queue")
        yield* TestClock.adjust(1_000)
        assert.strictEqual((yield* store.claim(claim("taker")))._tag, "Empty")
        assert.strictEqual((yield* store.counts()).waiting, 2)
        assert.isFalse(waiter.woken)
        yield* store.resume("queue")
        assert.isTrue(waiter.woken)
      })
    )
  )
})
