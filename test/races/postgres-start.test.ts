/** Servers that start together on a database without a schema, each told to make it. */
import { assert, it } from "@effect/vitest"
import { EnqueueRequest, JobStore } from "@jobwire/protocol"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { query } from "../../packages/server/test/postgres/support/database.ts"
import { databaseUrl, postgresStore } from "../support/fresh-postgres.ts"

const emptyDatabase: Effect.Effect<Redacted.Redacted, unknown, Scope.Scope> = Effect.gen(function* () {
  const name = `jobwire_empty_${randomUUID().replaceAll("-", "")}`
  yield* Effect.acquireRelease(query(`create database ${name}`), () =>
    Effect.orDie(query(`drop database ${name} with (force)`))
  )
  return Redacted.make(Object.assign(new URL(Redacted.value(databaseUrl())), { pathname: `/${name}` }).href)
})

it.live("five at once: each step is applied once, and all work on one store", () =>
  Effect.gen(function* () {
    const url = yield* emptyDatabase
    const name = randomUUID()
    const server = postgresStore(name, { url, migrate: true, hotConnections: 2, calmConnections: 1 })
    const contexts = yield* Effect.forEach(Array.from({ length: 5 }), () => Layer.build(Layer.fresh(server)), {
      concurrency: "unbounded"
    })
    const stores = contexts.map((context) => Context.get(context, JobStore.JobStore))
    const steps = yield* query("select count(*)::int4, count(distinct version)::int4 from migration", [], url)
    assert.deepStrictEqual(steps[0]?.[0], steps[0]?.[1])
    assert.deepStrictEqual(yield* query("select count(*)::int4 from store", [], url), [[1]])
    yield* Effect.forEach(
      stores,
      (store, index) => store.enqueue(EnqueueRequest.make({ name: "a", queue: "queue", payload: index })),
      { concurrency: "unbounded" }
    )
    for (const store of stores) assert.strictEqual((yield* store.counts()).waiting, 5)
    assert.deepStrictEqual(
      yield* query("select deadlocks::int4 from pg_stat_database where datname = current_database()", [], url),
      [[0]]
    )
  }).pipe(Effect.scoped)
)
