/** Wake-ups when connections are cut and when PostgreSQL itself is killed. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Redacted } from "effect"
import * as Cluster from "../../../../test/support/postgres/Cluster.ts"
import * as Migrations from "../../src/drivers/postgres/Migrations.ts"
import * as Bare from "./support/bare-server.ts"

/** A PostgreSQL that nobody else uses. */
class Own extends Context.Service<Own, { readonly cluster: Cluster.Cluster; readonly url: Redacted.Redacted }>()(
  "test/Own"
) {}

const own = Layer.effect(
  Own,
  Effect.gen(function* () {
    const cluster = yield* Effect.acquireRelease(
      Effect.promise(() => Cluster.make()),
      (cluster) => Effect.promise(() => cluster.dispose())
    )
    const url = Redacted.make(cluster.url)
    yield* Migrations.migrate({ url })
    return { cluster, url }
  })
)

const server = (url: Redacted.Redacted, store: number, options: Parameters<typeof Bare.make>[2] = {}) =>
  Bare.make(url, store, { wakePollInterval: "1 hour", ...options })

const soon = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.timeout(effect, "20 seconds")

/** Parks with the token of a claim that finds nothing; claims again when it must. */
const park = Effect.fnUntraced(function* (at: Bare.BareServer) {
  while (true) {
    const token = yield* at.take("a")
    if (token === undefined) return assert.fail("there was a job")
    const fiber = yield* Effect.forkChild(at.awaitWake(token))
    yield* Effect.yieldNow
    if (fiber.pollUnsafe() === undefined) return fiber
  }
})

/** Claims and waits, as a worker does, until there is a job. */
const work = Effect.fnUntraced(function* (at: Bare.BareServer) {
  for (let claims = 1; ; claims++) {
    const token = yield* Effect.retry(at.take("a"), { times: 500 })
    if (token === undefined) return claims
    yield* at.awaitWake(token)
  }
})

const execute = Effect.fnUntraced(function* (url: Redacted.Redacted, sql: string) {
  const connection = yield* PgConnection.make({ url })
  return yield* connection.queryValues(sql)
}, Effect.scoped)

const cutListeners = (url: Redacted.Redacted) =>
  execute(
    url,
    "select pg_terminate_backend(pid)::text from pg_stat_activity where application_name = 'jobwire listener'"
  )

layer(own, { timeout: "60 seconds", excludeTestServices: true })("a fleet", (it) => {
  describe("whose connections to listen are cut", () => {
    it.effect("hears of the jobs that came meanwhile, over and over", () =>
      Effect.gen(function* () {
        const { url } = yield* Own
        const store = Bare.newStore()
        const [one, other] = yield* Effect.all([server(url, store), server(url, store)])
        for (let round = 0; round < 8; round++) {
          const waiting = yield* park(other)
          const cut = yield* cutListeners(url)
          assert.strictEqual(cut.length, 2)
          // Half of the time the cut is noticed before the job is there.
          if (round % 2 === 0) yield* Effect.sleep("30 millis")
          yield* one.put("a")
          yield* soon(Fiber.join(waiting))
          yield* soon(work(other))
          while ((yield* listeners(url)) < 2) yield* Effect.sleep("10 millis")
        }
      }).pipe(Effect.scoped)
    )
  })

  describe("whose PostgreSQL is killed", () => {
    it.effect("works on when it is back, and tokens of before look once", () =>
      Effect.gen(function* () {
        const { cluster, url } = yield* Own
        const store = Bare.newStore()
        const [one, other] = yield* Effect.all([server(url, store), server(url, store)])
        const token = (yield* one.take("a")) ?? assert.fail("there was a job")
        const waiting = yield* park(other)
        yield* Effect.promise(() => cluster.kill())
        yield* Effect.promise(() => cluster.start())
        yield* Effect.retry(one.put("a"), { times: 500 })
        yield* soon(Fiber.join(waiting))
        yield* soon(work(other))
        while ((yield* listeners(url)) < 2) yield* Effect.sleep("10 millis")
        for (const at of [one, other]) yield* soon(at.awaitWake(token))
        const workers = yield* Effect.forEach([one, other], (at) => Effect.forkChild(work(at)))
        yield* one.put("a")
        yield* one.put("a")
        for (const claims of yield* soon(Fiber.joinAll(workers))) assert.isAtMost(claims, 4)
      }).pipe(Effect.scoped)
    )
  })
})

const listeners = (url: Redacted.Redacted) =>
  Effect.map(
    execute(url, "select count(*)::int4 from pg_stat_activity where application_name = 'jobwire listener'"),
    (rows) => Number(rows[0]?.[0])
  )
