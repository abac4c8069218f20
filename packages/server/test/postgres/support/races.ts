/** Races of several servers on one store, by the machine's clock. */
import { assert, it } from "@effect/vitest"
import { JobStore } from "@jobwire/protocol"
import type { PostgresJobStore } from "@jobwire/server/postgres"
import { Context, Effect, Layer, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { postgresStore } from "../../../../../test/support/fresh-postgres.ts"
import { numberOf, query } from "./database.ts"
import { brokenRules } from "./invariants.ts"

/** Several servers on one new store. */
export interface Fleet {
  readonly name: string
  readonly servers: ReadonlyArray<JobStore.JobStore["Service"]>
  /** One after the other. */
  readonly server: (index: number) => JobStore.JobStore["Service"]
}

/** So many servers on one new store. */
export const makeFleet = (
  size: number,
  options?: Partial<PostgresJobStore.PostgresOptions>
): Effect.Effect<Fleet, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const name = randomUUID()
    const contexts = yield* Effect.forEach(
      Array.from({ length: size }),
      () => Layer.build(Layer.fresh(postgresStore(name, { hotConnections: 4, calmConnections: 1, ...options }))),
      { concurrency: "unbounded" }
    )
    const servers = contexts.map((context) => Context.get(context, JobStore.JobStore))
    // The index is brought into the list.
    return { name, servers, server: (index) => servers[index % size] as JobStore.JobStore["Service"] }
  })

const deadlocks = Effect.map(
  query("select deadlocks::float8 from pg_stat_database where datname = current_database()"),
  (rows) => Number(rows[0]?.[0])
)

/** Runs a race, and looks whether all rules hold when the servers have gone, and whether anybody had to be freed from a deadlock. */
export const race = (title: string, run: (fleet: Fleet) => Effect.Effect<void, unknown, Scope.Scope>) =>
  it.live(
    title,
    () =>
      Effect.gen(function* () {
        const before = yield* deadlocks
        const name = yield* Effect.scoped(Effect.flatMap(makeFleet(3), (fleet) => Effect.as(run(fleet), fleet.name)))
        assert.deepStrictEqual(yield* brokenRules(yield* numberOf(name)), [])
        assert.strictEqual(yield* deadlocks, before)
      }),
    120_000
  )

/** Does the work so many times at once; answers by position. */
export const many = <A, E>(
  count: number,
  work: (index: number) => Effect.Effect<A, E>
): Effect.Effect<ReadonlyArray<A>, E> =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    work,
    { concurrency: "unbounded" }
  )

/** The items in any order. */
export const shuffled = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> =>
  items
    .map((item) => ({ item, order: Math.random() }))
    .toSorted((one, other) => one.order - other.order)
    .map(({ item }) => item)
