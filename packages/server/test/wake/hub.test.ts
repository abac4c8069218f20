/** Who is woken by what. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { WakeHub } from "../../src/drivers/wake/WakeHub.ts"
import { Wakes } from "../../src/drivers/wake/Wakes.ts"

const queue = "queue"

/** Tells the hub of so many jobs of a name. */
const notify = (hub: WakeHub, name: string, count = 1, ofQueue = queue): void => {
  const wakes = new Wakes()
  for (let job = 0; job < count; job++) wakes.job(ofQueue, name)
  hub.notify(wakes.events)
}

const notifyQueue = (hub: WakeHub): void => {
  const wakes = new Wakes()
  wakes.queue(queue)
  hub.notify(wakes.events)
}

/** Parks a wait and says, in the order of waking, who was woken. */
const parking = (hub: WakeHub) => {
  const woken: Array<string> = []
  const park = Effect.fnUntraced(function* (
    who: string,
    names: ReadonlyArray<string>,
    token = hub.token(queue, names)
  ) {
    const wait = hub.awaitWake([queue], token)
    const fiber = yield* Effect.forkChild(
      Effect.andThen(
        wait,
        Effect.sync(() => woken.push(who))
      )
    )
    yield* Effect.yieldNow
    return fiber
  })
  return { park, woken }
}

const unknownNames = Array.from({ length: 100 }, (_, index) => `a long name of a job ${index}`)

describe("one job", () => {
  it.effect("wakes one waiter, the one that has waited longest", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const { park, woken } = parking(hub)
      for (const who of ["first", "second", "third"]) yield* park(who, ["a"])
      notify(hub, "a")
      assert.deepStrictEqual(woken, ["first"])
      notify(hub, "a", 2)
      assert.deepStrictEqual(woken, ["first", "second", "third"])
      assert.strictEqual(hub.parked, 0)
    })
  )

  it.effect("wakes a waiter that asked for its name, and no other", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const { park, woken } = parking(hub)
      const fibers = [yield* park("of a", ["a"]), yield* park("of both", ["a", "b"]), yield* park("of nothing", [])]
      notify(hub, "b")
      assert.deepStrictEqual(woken, ["of both"])
      notify(hub, "c")
      assert.deepStrictEqual(woken, ["of both"])
      assert.strictEqual(hub.parked, 2)
      yield* Fiber.interruptAll(fibers)
      assert.strictEqual(hub.parked, 0)
    })
  )

  it.effect("wakes who said no names beside the one that it is for", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const { park, woken } = parking(hub)
      yield* park("unknown", unknownNames)
      yield* park("unknown too", unknownNames)
      yield* park("of a", ["a"])
      yield* park("of a too", ["a"])
      notify(hub, "a")
      assert.sameMembers(woken, ["unknown", "unknown too", "of a"])
      assert.strictEqual(hub.parked, 1)
    })
  )

  it.effect("does not wake a waiter of another queue", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const { park, woken } = parking(hub)
      yield* park("here", ["a"])
      notify(hub, "a", 1, "another queue")
      assert.deepStrictEqual(woken, [])
    })
  )
})

describe("a waiter", () => {
  it.effect("of several queues is woken by any, once, and leaves nothing in the others", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      let woken = 0
      const wait = hub.awaitWake(["one", "other"], hub.token("one", ["a"]))
      yield* Effect.forkChild(
        Effect.andThen(
          wait,
          Effect.sync(() => woken++)
        )
      )
      yield* Effect.yieldNow
      // The token says nothing about the names in the other queue, so any name there will do.
      notify(hub, "whatever", 1, "other")
      assert.strictEqual(woken, 1)
      notify(hub, "a", 1, "one")
      assert.deepStrictEqual([woken, hub.parked], [1, 0])
    })
  )

  it.effect("that is interrupted after it was chosen hands its wake to the next", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const { park, woken } = parking(hub)
      const doomed: { fiber?: Fiber.Fiber<unknown> } = {}
      const killer = hub.awaitWake([queue], hub.token(queue, ["a"]))
      // Woken first, it interrupts the second before that one's turn has come.
      yield* Effect.forkChild(
        Effect.andThen(
          killer,
          Effect.sync(() => doomed.fiber?.interruptUnsafe())
        )
      )
      yield* Effect.yieldNow
      doomed.fiber = yield* park("doomed", ["a"])
      yield* park("heir", ["a"])
      yield* park("patient", ["a"])
      notify(hub, "a", 2)
      yield* Effect.yieldNow
      assert.deepStrictEqual(woken, ["heir"])
      assert.strictEqual(hub.parked, 1)
    })
  )

  it.effect("that is interrupted while it is parked costs nobody a wake", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const { park, woken } = parking(hub)
      const fiber = yield* park("gone", ["a"])
      yield* park("here", ["a"])
      yield* Fiber.interrupt(fiber)
      notify(hub, "a")
      assert.deepStrictEqual(woken, ["here"])
    })
  )

  it.effect("may notify when it goes on, over and over, without growing the stack", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const length = 20_000
      let woken = 0
      const wait = hub.awaitWake([queue], hub.token(queue, ["a"]))
      const chain = Effect.andThen(
        wait,
        Effect.sync(() => {
          woken++
          notify(hub, "a")
        })
      )
      yield* Effect.forEach(Array.from({ length }), () => Effect.forkChild(chain), { discard: true })
      yield* Effect.yieldNow
      assert.strictEqual(hub.parked, length)
      notify(hub, "a")
      assert.deepStrictEqual([woken, hub.parked], [length, 0])
    })
  )
})

describe("a whole queue", () => {
  it.effect("wakes all of its waiters", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const { park, woken } = parking(hub)
      yield* park("a", ["a"])
      yield* park("a too", ["a"])
      yield* park("b", ["b", "c"])
      yield* park("unknown", unknownNames)
      notifyQueue(hub)
      assert.sameMembers(woken, ["a", "a too", "b", "unknown"])
      assert.strictEqual(hub.parked, 0)
    })
  )
})

describe("a token", () => {
  const isStale = Effect.fnUntraced(function* (hub: WakeHub, token: string, queues = [queue]) {
    const fiber = yield* Effect.forkChild(hub.awaitWake(queues, token))
    yield* Effect.yieldNow
    const parked = hub.parked > 0
    yield* Fiber.interrupt(fiber)
    return !parked
  })

  it.effect("from before a wake resolves at once, however often it is used", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const token = hub.token(queue, ["a"])
      assert.isFalse(yield* isStale(hub, token))
      notify(hub, "a")
      assert.isTrue(yield* isStale(hub, token))
      assert.isTrue(yield* isStale(hub, token))
      assert.isFalse(yield* isStale(hub, hub.token(queue, ["a"])))
    })
  )

  it.effect("is not made stale by another name or another queue", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const token = hub.token(queue, ["a"])
      notify(hub, "b")
      notify(hub, "a", 1, "another queue")
      assert.isFalse(yield* isStale(hub, token))
      assert.isTrue(yield* isStale(hub, token, ["another queue"]))
      notifyQueue(hub)
      assert.isTrue(yield* isStale(hub, token))
    })
  )

  it.effect("without names is made stale by any name", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const token = hub.token(queue, unknownNames)
      assert.isAtMost(token.length, 100)
      notify(hub, "b")
      assert.isTrue(yield* isStale(hub, token))
    })
  )

  it.effect("of another hub, or of none, resolves at once", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      for (const token of [new WakeHub().token(queue, ["a"]), "", "nonsense", "0", "a.b.c"]) {
        assert.isTrue(yield* isStale(hub, token), token)
      }
    })
  )

  it.effect("keeps names with any characters", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const name = 'a "name".with, [signs] \n\u{1f600}'
      const token = hub.token("queue.with.dots", [name])
      const { woken } = parking(hub)
      yield* Effect.forkChild(
        Effect.andThen(
          hub.awaitWake(["queue.with.dots"], token),
          Effect.sync(() => woken.push("it"))
        )
      )
      yield* Effect.yieldNow
      notify(hub, "another", 1, "queue.with.dots")
      assert.deepStrictEqual(woken, [])
      notify(hub, name, 1, "queue.with.dots")
      assert.deepStrictEqual(woken, ["it"])
    })
  )

  it.effect("misses nothing when names or queues are too many to remember", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const token = hub.token(queue, ["a"])
      notify(hub, "a")
      for (let index = 0; index < 3_000; index++) notify(hub, `name-${index}`)
      assert.isTrue(yield* isStale(hub, token))
      const later = hub.token(queue, ["a"])
      notify(hub, "a")
      for (let index = 0; index < 25_000; index++) notify(hub, "a", 1, `queue-${index}`)
      assert.isTrue(yield* isStale(hub, later))
      assert.isFalse(yield* isStale(hub, hub.token(queue, ["a"])))
    })
  )
})

describe("a hundred thousand waiters", () => {
  it.live("park and are woken one a job", () =>
    Effect.gen(function* () {
      const hub = new WakeHub()
      const length = 100_000
      let woken = 0
      const names = ["a", "b"]
      const wait = Effect.andThen(
        hub.awaitWake([queue], hub.token(queue, names)),
        Effect.sync(() => woken++)
      )
      yield* Effect.forEach(Array.from({ length }), () => Effect.forkChild(wait), { discard: true })
      yield* Effect.yieldNow
      assert.strictEqual(hub.parked, length)
      for (let job = 0; job < length; job++) notify(hub, names[job % 2] ?? "a")
      assert.deepStrictEqual([woken, hub.parked], [length, 0])
    })
  )
})
