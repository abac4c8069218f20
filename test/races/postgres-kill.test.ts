/**
 * Two `jobwire serve` on one PostgreSQL under load over the network, by WebSocket and by HTTP, when kill -9 comes to the servers and
 * to PostgreSQL itself. Whatever was acknowledged is there, and happened once.
 */
import { RemoteJobStore } from "@jobwire/client/node"
import { assert, it } from "@effect/vitest"
import { JobStore } from "@jobwire/protocol"
import { PostgresJobStore } from "@jobwire/server/postgres"
import { Context, Effect, Fiber, Layer, Redacted, type Scope } from "effect"
import { type Running, start } from "../../packages/cli/test/support/processes.ts"
import { query } from "../../packages/server/test/postgres/support/database.ts"
import { brokenRules } from "../../packages/server/test/postgres/support/invariants.ts"
import { many } from "../../packages/server/test/postgres/support/races.ts"
import * as Cluster from "../support/postgres/Cluster.ts"
import { Load } from "./support/load.ts"

const rounds = 3
// How much is acknowledged between two kills.
const callsBetween = 50

/** A server on a port of its own, where it can be started again. */
class Serve {
  readonly url: string
  readonly #args: ReadonlyArray<string>
  running: Running | undefined

  constructor(port: number, databaseUrl: string) {
    this.url = `http://127.0.0.1:${port}`
    this.#args = ["serve", "--port", `${port}`, "--database-url", databaseUrl]
  }

  readonly start: Effect.Effect<void> = Effect.promise(async () => {
    this.running = start(this.#args)
    await this.running.line(/^http:/)
  })

  readonly kill: Effect.Effect<void> = Effect.promise(async () => {
    this.running?.child.kill("SIGKILL")
    await this.running?.ended
  })

  get isUp(): boolean {
    return this.running?.child.exitCode === null && this.running.child.signalCode === null
  }
}

interface World {
  readonly cluster: Cluster.Cluster
  readonly servers: ReadonlyArray<Serve>
  readonly load: Load
}

const makeWorld: Effect.Effect<World, unknown, Scope.Scope> = Effect.gen(function* () {
  const cluster = yield* Effect.acquireRelease(
    Effect.promise(() => Cluster.make()),
    (cluster) => Effect.promise(() => cluster.dispose())
  )
  yield* PostgresJobStore.migrate({ url: Redacted.make(cluster.url) })
  const ports = yield* Effect.promise(() => Promise.all([Cluster.freePort(), Cluster.freePort()]))
  const servers = yield* Effect.forEach(ports, (port) =>
    Effect.acquireRelease(
      Effect.sync(() => new Serve(port, cluster.url)),
      (server) => server.kill
    )
  )
  yield* Effect.forEach(servers, (server) => server.start, { concurrency: "unbounded" })
  const contexts = yield* Effect.forEach(
    servers.flatMap(({ url }) => [
      { url, transport: "websocket" as const },
      { url, transport: "http" as const }
    ]),
    (way) =>
      Layer.build(
        Layer.fresh(RemoteJobStore.layer({ ...way, outageTimeout: 200, retryTimeout: 0, callTimeout: "8 seconds" }))
      )
  )
  return { cluster, servers, load: new Load(contexts.map((context) => Context.get(context, JobStore.JobStore))) }
})

/** What each job has come to, as the database has it. */
const readEnds = (url: Redacted.Redacted) =>
  Effect.map(
    query(
      `select j.id, d.state::int4, d.exit::text, (select count(*)::int4 from outbox o where o.store = j.store and o.child_key = j.id),
        j.parent is not null, (select count(*)::int4 from attempt a where a.store = j.store and a.seq = j.seq and a.outcome <> 3)
       from job j left join done d using (store, seq)`,
      [],
      url
    ),
    (rows) =>
      new Map(
        rows.map(([id, state, exit, reports, isChild, others]) => [
          String(id),
          { state, exit: JSON.parse(String(exit)) as unknown, reports, isChild, others }
        ])
      )
  )

const check = Effect.fnUntraced(function* ({ cluster, load }: World) {
  const url = Redacted.make(cluster.url)
  const { completed, enqueued } = load.recorder
  const ends = yield* readEnds(url)
  for (const id of enqueued) assert.isTrue(ends.has(id), `${id} was put in, and is not there`)
  for (const [id, tokens] of completed) {
    assert.lengthOf([...tokens], 1, `${id} was completed under ${[...tokens].join(" and ")}`)
    assert.deepStrictEqual(ends.get(id)?.exit, [...tokens][0])
  }
  // All were completed, by one run each; the others were taken back.
  for (const [id, { isChild, others, reports, state }] of ends) {
    assert.deepStrictEqual(
      { id, state, others, reports },
      { id, state: 4, others: 0, reports: isChild === true ? 1 : 0 }
    )
  }
  const stores = yield* query("select store from store", [], url)
  for (const [store] of stores) assert.deepStrictEqual(yield* brokenRules(Number(store), url), [])
  const deadlocks = "select sum(deadlocks)::int4 from pg_stat_database"
  assert.deepStrictEqual(yield* query(deadlocks, [], url), [[0]])
})

/** Runs the load while this happens, lets it come to its end, and looks at what is left. */
const underLoad = (happens: (world: World) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const world = yield* makeWorld
    const { load } = world
    const producers = yield* Effect.forkChild(many(3, (producer) => load.produce(producer)))
    const workers = yield* Effect.forkChild(
      Effect.raceFirst(
        many(6, (worker) => load.work(worker)),
        load.sweep
      )
    )
    // Whoever fails does not let the others wait.
    yield* Effect.raceFirst(
      happens(world),
      Effect.andThen(Effect.raceFirst(Fiber.join(producers), Fiber.join(workers)), Effect.never)
    )
    load.stopFilling()
    yield* Fiber.join(producers)
    yield* Fiber.join(workers)
    yield* check(world)
  }).pipe(Effect.scoped)

const range = Array.from({ length: rounds }, (_, round) => round)

it.live(
  "servers that are killed lose nothing that was acknowledged",
  () =>
    underLoad(({ load: { recorder }, servers }) =>
      Effect.forEach(
        range,
        (round) =>
          Effect.gen(function* () {
            const server = servers[round % servers.length]
            yield* recorder.more(callsBetween)
            yield* server?.kill ?? Effect.void
            yield* recorder.more(callsBetween)
            yield* server?.start ?? Effect.void
          }),
        { discard: true }
      )
    ),
  90_000
)

it.live(
  "a PostgreSQL that is killed takes nothing with it that was acknowledged, and its servers go on when it is back",
  () =>
    underLoad(({ cluster, load: { recorder }, servers }) =>
      Effect.forEach(
        range,
        () =>
          Effect.gen(function* () {
            yield* recorder.more(callsBetween)
            yield* Effect.promise(() => cluster.kill())
            yield* Effect.promise(() => cluster.start())
            yield* recorder.more(callsBetween)
            assert.isTrue(servers.every(({ isUp }) => isUp))
          }),
        { discard: true }
      )
    ),
  90_000
)
