/** `awaitWake`: what ends a wait, what does not, and that no wake is lost between a claim and its wait. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Flow from "./flowKit.ts"
import * as Kit from "./kit.ts"

/** Something that wakes: what must be there before, and what is done. Both touch the queue of the kit only. */
interface Source {
  readonly name: string
  readonly prepare?: (store: Kit.Store) => Effect.Effect<unknown, unknown>
  readonly act: (store: Kit.Store) => Effect.Effect<unknown, unknown>
}

/** Prepared by a job that is claimed under the token "held". */
const held = (store: Kit.Store) => Kit.addAndTake(store, { id: "job" }, { token: "held", lockDurationMs: 10 })

const delayed = (dedupe?: ReturnType<typeof Kit.dedupe>) => (store: Kit.Store) =>
  Kit.add(store, { id: "job", delayMs: 60_000, dedupe })

const schedule = (store: Kit.Store) =>
  store.upsertSchedule({
    key: "schedule",
    jobName: Kit.name,
    queue: Kit.queue,
    cron: undefined,
    tz: undefined,
    everyMs: 1_000,
    payload: undefined,
    metadata: {},
    priority: 0,
    attemptsMax: 1,
    backoff: undefined,
    keep: undefined,
    timeoutMs: undefined,
    group: undefined,
    nextRunAt: Kit.start
  })

const sources: ReadonlyArray<Source> = [
  { name: "enqueue", act: (store) => Kit.add(store) },
  { name: "enqueue with a delay", act: (store) => Kit.add(store, { delayMs: 1_000 }) },
  { name: "enqueueMany", act: (store) => store.enqueueMany([Kit.request(), Kit.request({ queue: "another" })]) },
  {
    name: "replace",
    prepare: delayed(Kit.dedupe("key")),
    act: (store) => store.enqueue(Kit.request({ dedupe: Kit.dedupe("key", { replace: true }), delayMs: 10 }))
  },
  { name: "ack Retry", prepare: held, act: (store) => store.ack("job", "held", Kit.again()) },
  { name: "ack Retry with a delay", prepare: held, act: (store) => store.ack("job", "held", Kit.again(1_000)) },
  { name: "release", prepare: held, act: (store) => store.release("job", "held") },
  {
    name: "recoverStalled",
    prepare: held,
    act: (store) => Effect.andThen(Kit.pass(10), store.recoverStalled({ maxStalledCount: 1 }))
  },
  { name: "promote", prepare: delayed(), act: (store) => store.promote("job") },
  {
    name: "retry",
    prepare: (store) => Kit.addFinished(store, "failed", { id: "job" }),
    act: (store) => store.retry("job")
  },
  {
    name: "resume",
    prepare: (store) => Effect.andThen(Kit.add(store), store.pause(Kit.queue)),
    act: (store) => store.resume(Kit.queue)
  },
  {
    name: "tickSchedule",
    prepare: schedule,
    act: (store) => store.tickSchedule("schedule", Kit.start, Kit.start + 1_000, Kit.request({ id: "tick" }))
  },
  {
    name: "the last child's report, which makes a flow parent runnable",
    prepare: (store) => Flow.addParent(store, ["a"], { fields: { id: "job" } }),
    act: (store) => Flow.records(store, [Flow.report("job", "a", "completed")], [Flow.settled])
  },
  { name: "an empty FanOut", prepare: held, act: (store) => store.ack("job", "held", Flow.fanOut([])) }
]

/** A claim that found nothing, for its token. */
const emptyToken = (store: Kit.Store, queue = Kit.queue) =>
  Effect.map(Kit.takeNothing(store, { queue }), ({ wakeToken }) => wakeToken)

/** Wakes a queue that has no other part in the test, and sees that its waiter is woken: a wake has gone round. */
const control = Effect.fnUntraced(function* (store: Kit.Store) {
  const token = yield* emptyToken(store, "control")
  const waiter = yield* Effect.forkChild(Kit.isWoken(store, ["control"], token))
  yield* Kit.roundTrips(store)
  yield* Kit.add(store, { queue: "control" })
  yield* Fiber.join(waiter)
  yield* Kit.takeAll(store, { queue: "control" })
})

/** Parks a waiter, as far as the store can be asked to have it parked. */
const park = Effect.fnUntraced(function* (store: Kit.Store, queues: ReadonlyArray<string>, token: string) {
  const waiter = yield* Effect.forkChild(Kit.isWoken(store, queues, token))
  yield* Kit.roundTrips(store)
  return waiter
})

const wakes = (test: Kit.Test) => {
  for (const { act, name, prepare } of sources) {
    test(`${name} wakes a waiter that is parked`, (store) =>
      Effect.gen(function* () {
        yield* prepare?.(store) ?? Effect.void
        const waiter = yield* park(store, [Kit.queue], yield* emptyToken(store))
        yield* Kit.isParked(waiter, "the wait")
        yield* act(store)
        yield* Fiber.join(waiter)
      }))

    test(`${name} between the claim and the wait is not lost`, (store) =>
      Effect.gen(function* () {
        yield* prepare?.(store) ?? Effect.void
        const token = yield* emptyToken(store)
        yield* act(store)
        yield* Kit.isWoken(store, [Kit.queue], token)
      }))

    test(`${name} does not wake a waiter of another queue`, (store) =>
      Effect.gen(function* () {
        yield* prepare?.(store) ?? Effect.void
        const token = yield* emptyToken(store, "elsewhere")
        const waiter = yield* park(store, ["elsewhere"], token)
        yield* act(store)
        yield* control(store)
        yield* Kit.isParked(waiter, "the wait for another queue")
        yield* Kit.add(store, { queue: "elsewhere" })
        yield* Fiber.join(waiter)
      }))
  }
}

const tokens = (test: Kit.Test) => {
  test("a token is a string that is not empty", (store) =>
    Effect.gen(function* () {
      const token = yield* emptyToken(store)
      assert.isString(token)
      assert.isAbove(token.length, 0)
    }))

  test("a token from after the wake waits for the next one", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store)
      yield* Kit.takeAll(store)
      const waiter = yield* park(store, [Kit.queue], yield* emptyToken(store))
      yield* control(store)
      yield* Kit.isParked(waiter, "the wait with a fresh token")
      yield* Kit.add(store)
      yield* Fiber.join(waiter)
    }))

  test("an older token stays behind: it ends its wait at once, as often as it is used", (store) =>
    Effect.gen(function* () {
      const token = yield* emptyToken(store)
      yield* Kit.add(store)
      yield* Kit.takeAll(store)
      yield* emptyToken(store)
      yield* Kit.isWoken(store, [Kit.queue], token)
      yield* Kit.isWoken(store, [Kit.queue], token)
    }))

  test("the token of a claim in one queue counts for every queue", (store) =>
    Effect.gen(function* () {
      const token = yield* emptyToken(store, "first")
      yield* Kit.add(store, { queue: "second" })
      yield* Kit.isWoken(store, ["second"], token)
      const waiter = yield* park(store, ["first"], token)
      yield* control(store)
      yield* Kit.isParked(waiter, "the wait for the first queue")
      yield* Kit.add(store, { queue: "first" })
      yield* Fiber.join(waiter)
    }))

  test("a wait for several queues ends by any of them", (store) =>
    Effect.gen(function* () {
      const queues = ["first", "second", "third"]
      for (const queue of queues) {
        const token = yield* emptyToken(store, queue)
        const waiter = yield* park(store, queues, token)
        yield* control(store)
        yield* Kit.isParked(waiter, "the wait for three queues")
        yield* Kit.add(store, { queue })
        yield* Fiber.join(waiter)
        yield* Kit.takeAll(store, { queue })
      }
    }))
}

const quiet = (test: Kit.Test) => {
  test("a wait is no busy loop, whatever sits in the queue", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { name: "other" })
      yield* Kit.add(store, { delayMs: 60_000 })
      yield* Kit.add(store, { name: "other", delayMs: 10 })
      yield* Kit.addAndTake(store, { name: "stalled" }, { lockDurationMs: 10 })
      yield* Flow.addParent(store, ["a"], { fields: { name: "parent" } })
      yield* Kit.addFinished(store, "completed", { name: "done" })
      yield* Kit.pass(20)
      const waiter = yield* park(store, [Kit.queue], yield* emptyToken(store))
      yield* control(store)
      yield* control(store)
      yield* Kit.isParked(waiter, "the wait")
      yield* Kit.add(store)
      yield* Fiber.join(waiter)
    }))

  test("a paused queue with jobs does not end the wait", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b"])
      yield* store.pause(Kit.queue)
      const waiter = yield* park(store, [Kit.queue], yield* emptyToken(store))
      yield* control(store)
      yield* Kit.isParked(waiter, "the wait for a paused queue")
      yield* store.resume(Kit.queue)
      yield* Fiber.join(waiter)
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["a", "b"])
    }))

  test("reading, claiming, heartbeats and ends of runs do not end the wait", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b"], { name: "other" })
      const waiter = yield* park(store, [Kit.queue], yield* emptyToken(store))
      const [a, b] = [yield* Kit.take(store, { names: ["other"] }), yield* Kit.take(store, { names: ["other"] })]
      yield* store.extendLocks([{ id: a.id, token: a.token }], 1_000)
      yield* store.ack(a.id, a.token, Kit.complete())
      yield* store.ack(b.id, b.token, Kit.fail())
      yield* store.remove(a.id)
      yield* store.list({})
      yield* store.pausedQueues()
      yield* store.recoverStalled({ maxStalledCount: 0 })
      yield* control(store)
      yield* Kit.isParked(waiter, "the wait")
      yield* Kit.add(store)
      yield* Fiber.join(waiter)
    }))
}

const waiters = (test: Kit.Test) => {
  test("as many jobs as there are waiters wake all of them", (store) =>
    Effect.gen(function* () {
      const token = yield* emptyToken(store)
      const parked = yield* Effect.forEach(Array.from({ length: 20 }), () => park(store, [Kit.queue], token))
      yield* Effect.forEach(parked, () => Kit.add(store))
      yield* Fiber.joinAll(parked)
    }))

  test("waiters that find nothing and wait again are woken again", (store) =>
    Effect.gen(function* () {
      const taken = yield* Effect.forkChild(
        Effect.gen(function* () {
          const ids: Array<string> = []
          while (ids.length < 5) {
            const result = yield* store.claim(Kit.claimOptions())
            if (result._tag === "Claimed") ids.push(result.job.id)
            else yield* store.awaitWake([Kit.queue], result.wakeToken)
          }
          return ids
        })
      )
      const ids = ["a", "b", "c", "d", "e"]
      for (const id of ids) {
        yield* Kit.add(store, { id })
        yield* Kit.roundTrips(store)
      }
      assert.deepStrictEqual(yield* Kit.soon("the taker", Fiber.join(taken)), ids)
    }))

  test("a wait can be interrupted, and others are woken as before", (store) =>
    Effect.gen(function* () {
      const token = yield* emptyToken(store)
      const gone = yield* park(store, [Kit.queue], token)
      const stays = yield* park(store, [Kit.queue], token)
      yield* Kit.soon("the interruption", Fiber.interrupt(gone))
      yield* Kit.roundTrips(store)
      yield* Kit.isParked(stays, "the other wait")
      // Two, as a store may take a while to hear that a waiter has gone.
      yield* Kit.addAll(store, ["a", "b"])
      yield* Fiber.join(stays)
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["a", "b"])
    }))

  test("many interrupted waits leave a store that answers and wakes", (store) =>
    Effect.gen(function* () {
      const token = yield* emptyToken(store)
      for (let round = 0; round < 10; round++) {
        const parked = yield* Effect.forEach(Array.from({ length: 10 }), () =>
          Effect.forkChild(store.awaitWake([Kit.queue], token))
        )
        yield* Kit.roundTrips(store)
        yield* Kit.soon("the interruption", Fiber.interruptAll(parked))
      }
      yield* Kit.add(store, { id: "job" })
      yield* Kit.isWoken(store, [Kit.queue], token)
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["job"])
    }))
}

export const wake = (test: Kit.Test) =>
  describe("awaitWake", () => {
    wakes(test)
    tokens(test)
    quiet(test)
    waiters(test)
  })
