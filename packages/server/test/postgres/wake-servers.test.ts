/** Wake-ups between servers on one database: tokens of one are good at another, and a job wakes whoever waits for it, wherever. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { databaseUrl } from "../../../../test/support/fresh-postgres.ts"
import * as Bare from "./support/bare-server.ts"

// So long that no test meets it.
const never = { wakePollInterval: "1 hour" } as const

const server = (store: number, options: Parameters<typeof Bare.make>[2] = never) =>
  Bare.make(databaseUrl(), store, options)

const soon = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.timeout(effect, "10 seconds")

/** The token of a claim that finds nothing. */
const emptyToken = (at: Bare.BareServer, ...names: ReadonlyArray<string>) =>
  Effect.map(at.take(...names), (token) => {
    if (token === undefined) return assert.fail("there was a job")
    return token
  })

const park = Effect.fnUntraced(function* (at: Bare.BareServer, token: string) {
  const before = at.parked()
  const fiber = yield* Effect.forkChild(at.awaitWake(token))
  yield* Effect.yieldNow
  assert.strictEqual(at.parked(), before + 1, "it did not park")
  return fiber
})

const isStale = Effect.fnUntraced(function* (at: Bare.BareServer, token: string) {
  const fiber = yield* Effect.forkChild(at.awaitWake(token))
  yield* Effect.yieldNow
  const hasEnded = fiber.pollUnsafe() !== undefined
  yield* Fiber.interrupt(fiber)
  return hasEnded
})

describe("a token of one server", () => {
  it.live("waits at another, and is woken by a job that comes in by a third", () =>
    Effect.gen(function* () {
      const store = Bare.newStore()
      const [one, other, third] = yield* Effect.all([server(store), server(store), server(store)])
      const waiting = yield* park(other, yield* emptyToken(one, "a"))
      yield* third.put("b")
      yield* third.put("a")
      yield* soon(Fiber.join(waiting))
      assert.isUndefined(yield* other.take("a"))
    }).pipe(Effect.scoped)
  )

  it.live("ends its wait at once wherever the job has been heard of, and waits no more after the next claim", () =>
    Effect.gen(function* () {
      const store = Bare.newStore()
      const [one, other] = yield* Effect.all([server(store), server(store)])
      const old = yield* emptyToken(one, "a")
      const sentinel = yield* park(other, old)
      yield* one.put("a")
      // It has been heard there.
      yield* soon(Fiber.join(sentinel))
      for (const at of [one, other]) assert.isTrue(yield* isStale(at, old))
      assert.isUndefined(yield* one.take("a"))
      const fresh = yield* emptyToken(one, "a")
      for (const at of [one, other]) assert.isFalse(yield* isStale(at, fresh))
    }).pipe(Effect.scoped)
  )

  it.live("is good at a server that was started later: it looks once, and then waits", () =>
    Effect.gen(function* () {
      const store = Bare.newStore()
      const old = yield* Effect.scoped(
        Effect.gen(function* () {
          const gone = yield* server(store)
          const token = yield* emptyToken(gone, "a")
          yield* gone.put("a")
          return token
        })
      )
      const later = yield* server(store)
      assert.isTrue(yield* isStale(later, old))
      assert.isUndefined(yield* later.take("a"))
      const waiting = yield* park(later, yield* emptyToken(later, "a"))
      yield* later.put("a")
      yield* soon(Fiber.join(waiting))
    }).pipe(Effect.scoped)
  )

  it.live("from somewhere else, and what is none, ends its wait at once", () =>
    Effect.gen(function* () {
      const at = yield* server(Bare.newStore())
      const [origin, position, asked] = (yield* emptyToken(at, "a")).split(".")
      assert.isFalse(yield* isStale(at, `${origin}.${position}.${asked}`))
      for (const token of [
        `other.${position}.${asked}`,
        `${origin}.-.${asked}`,
        `${origin}..`,
        "",
        "nonsense",
        "a.b.c"
      ]) {
        assert.isTrue(yield* isStale(at, token), token)
      }
    }).pipe(Effect.scoped)
  )
})

describe("a job", () => {
  it.live("wakes a waiter where it came in, and nobody elsewhere", () =>
    Effect.gen(function* () {
      const store = Bare.newStore()
      const [one, other] = yield* Effect.all([server(store), server(store)])
      const here = yield* park(one, yield* emptyToken(one, "a"))
      const there = yield* park(other, yield* emptyToken(other, "a"))
      yield* one.put("a")
      yield* soon(Fiber.join(here))
      // Heard after the first, when all that could be called have been.
      const last = yield* park(other, yield* emptyToken(other, "b"))
      yield* one.put("b")
      yield* soon(Fiber.join(last))
      assert.isUndefined(there.pollUnsafe())
      yield* Fiber.interrupt(there)
    }).pipe(Effect.scoped)
  )

  it.live("of another name, queue or store wakes nobody", () =>
    Effect.gen(function* () {
      const store = Bare.newStore()
      const [one, other, elsewhere] = yield* Effect.all([server(store), server(store), server(Bare.newStore())])
      const waiting = yield* park(other, yield* emptyToken(other, "a"))
      const last = yield* park(other, yield* emptyToken(other, "b"))
      yield* elsewhere.put("a")
      yield* one.put("c")
      yield* one.put("b")
      yield* soon(Fiber.join(last))
      assert.isUndefined(waiting.pollUnsafe())
      yield* Fiber.interrupt(waiting)
      assert.strictEqual(other.parked(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("whose server died before it told is found by the slow look, as is one that came due", () =>
    Effect.gen(function* () {
      const store = Bare.newStore()
      const [dying, other] = yield* Effect.all([server(store), server(store, { wakePollInterval: "100 millis" })])
      const waiting = yield* park(other, yield* emptyToken(other, "a"))
      yield* dying.put("b", { tells: false })
      yield* dying.put("a", { tells: false })
      yield* soon(Fiber.join(waiting))
      assert.isUndefined(yield* other.take("a"))
      yield* dying.put("a", { tells: false, runAt: Date.now() + 300 })
      const delayed = yield* park(other, yield* emptyToken(other, "a"))
      yield* soon(Fiber.join(delayed))
      assert.isUndefined(yield* other.take("a"))
    }).pipe(Effect.scoped)
  )
})

describe("parked waits", () => {
  it.live("cost no query but the slow look, and without them there is none at all", () =>
    Effect.gen(function* () {
      const at = yield* server(Bare.newStore(), { wakePollInterval: "20 millis" })
      const token = yield* emptyToken(at, "a")
      const waits = yield* Effect.forEach(Array.from({ length: 1000 }), () => Effect.forkChild(at.awaitWake(token)))
      yield* Effect.yieldNow
      assert.strictEqual(at.parked(), 1000)
      at.statements.length = 0
      while (at.statements.length < 5) yield* Effect.sleep("10 millis")
      assert.deepStrictEqual(
        at.statements.filter((sql) => !sql.includes("pg_notify")),
        []
      )
      yield* Fiber.interruptAll(waits)
      assert.strictEqual(at.parked(), 0)
      at.statements.length = 0
      yield* Effect.sleep("200 millis")
      assert.deepStrictEqual(at.statements, [])
    }).pipe(Effect.scoped)
  )
})
