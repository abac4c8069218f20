/** What callers are told when the database refuses: in time, by its kind, and whether the call may have been carried out. */
import { assert, layer } from "@effect/vitest"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { EnqueueRequest, JobStore, type JobStoreError } from "@jobwire/protocol"
import { PostgresJobStore } from "@jobwire/server/postgres"
import { Context, Effect, Layer, Redacted, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { postgresStore } from "../../../../test/support/fresh-postgres.ts"
import { numberOf, ownDatabase, query } from "./support/database.ts"
import { brokenRules } from "./support/invariants.ts"

const queue = "queue"

const dedupe = { key: "k", ttlMs: undefined, extend: false, replace: false }

const request = (fields: Partial<EnqueueRequest> = {}): EnqueueRequest =>
  EnqueueRequest.make({ name: "a", queue, payload: 1, ...fields })

const claim = { queue, names: ["a"], token: "t", lockDurationMs: 60_000 }

/** A call of each way into the database. */
const calls: Readonly<Record<string, (store: JobStore.Service) => Effect.Effect<unknown, unknown>>> = {
  enqueue: (store) => store.enqueue(request()),
  "enqueue by a key": (store) => store.enqueue(request({ dedupe })),
  claim: (store) => store.claim(claim),
  ack: (store) => store.ack("held", "held", { _tag: "Complete", exit: 1 }),
  extendLocks: (store) => store.extendLocks([{ id: "held", token: "held" }], 1000),
  pause: (store) => store.pause(queue),
  getJob: (store) => store.getJob("held"),
  counts: (store) => store.counts(),
  pausedQueues: (store) => store.pausedQueues()
}

/** What changes something. */
const writes = Object.entries(calls).slice(0, 6)

/** A database that nobody else uses, and a role in it that only serves. */
class Own extends Context.Service<
  Own,
  { readonly url: Redacted.Redacted; readonly role: string; readonly served: Redacted.Redacted }
>()("test/Own") {}

const own = Layer.effect(
  Own,
  Effect.gen(function* () {
    const url = yield* ownDatabase
    const role = `jobwire_role_${randomUUID().replaceAll("-", "")}`
    yield* query(`create role ${role} login password 'word'`, [], url)
    // Before the database goes, its rights go with it; then nothing holds the role.
    yield* Effect.addFinalizer(() =>
      Effect.orDie(Effect.andThen(query(`drop owned by ${role}`, [], url), query(`drop role ${role}`, [], url)))
    )
    yield* PostgresJobStore.grant({ url }, role)
    const served = Object.assign(new URL(Redacted.value(url)), { username: role, password: "word" }).href
    return { url, role, served: Redacted.make(served) }
  })
)

/** A store with a job that is held, and what is in it. */
const makeStore = Effect.fnUntraced(function* (url: Redacted.Redacted, admin: Redacted.Redacted) {
  const name = randomUUID()
  const server = postgresStore(name, { url, statementTimeout: 400 })
  const store = Context.get(yield* Layer.build(Layer.fresh(server)), JobStore.JobStore)
  yield* store.enqueue(request({ id: "held" }))
  yield* store.claim({ ...claim, token: "held" })
  const number = yield* numberOf(name, admin)
  const left = Effect.gen(function* () {
    assert.deepStrictEqual(yield* brokenRules(number, admin), [])
    const paused = yield* query("select count(*)::int4 from pause where store = $1", [number], admin)
    const rows = yield* query(
      "select id, token, state::int4 from job join live using (store, seq) where store = $1",
      [number],
      admin
    )
    return [...rows, ...paused]
  })
  return { store, left }
})

const untouched = [["held", "held", 2], [0]]

const refusal = (call: Effect.Effect<unknown, unknown>): Effect.Effect<JobStoreError, unknown> =>
  // Whatever else it is fails the assertions.
  Effect.map(Effect.timeout(Effect.flip(call), "10 seconds"), (error) => error as JobStoreError)

/** Makes all calls once: nobody hears of a session that has ended before they use it, and then its answer is lost. */
const noticeEnds = (store: JobStore.Service) =>
  Effect.forEach(Object.entries(calls), ([name, call]) =>
    Effect.catchIf(
      call(store),
      () => true,
      (error) => Effect.sync(() => assert.strictEqual((error as JobStoreError)._tag, "JobStoreError", name))
    )
  )

/** Ends all sessions of the servers, so that the next ones find other settings. */
const endSessions =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'jobwire'"

const works = (store: JobStore.Service) =>
  Effect.retry(
    Effect.forEach(Object.values(calls), (call) => call(store)),
    Schedule.max([Schedule.spaced("50 millis"), Schedule.recurs(20)])
  )

layer(own, { excludeTestServices: true, timeout: "60 seconds" })("a database", (it) => {
  it.effect("whose tables somebody holds for too long: the calls end in time, and nothing has happened", () =>
    Effect.gen(function* () {
      const { url } = yield* Own
      const { left, store } = yield* makeStore(url, url)
      yield* Effect.gen(function* () {
        const holder = yield* PgConnection.make({ url, startupParameters: { search_path: "jobwire" } })
        yield* holder.queryValues("begin")
        yield* holder.queryValues(
          "lock table job, live, done, lane, pause, tally, tally_change in access exclusive mode"
        )
        for (const [name, call] of Object.entries(calls)) {
          const error = yield* refusal(call(store))
          assert.deepStrictEqual([name, error.reason], [name, { _tag: "DriverFault", transient: true }])
          assert.include(error.message, "the statement took too long")
        }
      }).pipe(Effect.scoped)
      assert.deepStrictEqual(yield* left, untouched)
      yield* works(store)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "that only reads, as the old one does after a failover: whatever writes is refused for now, and looking works",
    () =>
      Effect.gen(function* () {
        const { role, served, url } = yield* Own
        const { left, store } = yield* makeStore(served, url)
        yield* query(`alter role ${role} set default_transaction_read_only = on`, [], url)
        yield* query(endSessions, [], url)
        yield* noticeEnds(store)
        for (const [name, call] of writes) {
          const error = yield* refusal(call(store))
          assert.deepStrictEqual([name, error.reason], [name, { _tag: "DriverFault", transient: true }])
          assert.include(error.message, "read-only transaction")
        }
        assert.strictEqual((yield* store.counts()).active, 1)
        assert.deepStrictEqual(yield* store.pausedQueues(), [])
        assert.deepStrictEqual(yield* left, untouched)
        yield* query(`alter role ${role} reset default_transaction_read_only`, [], url)
        yield* query(endSessions, [], url)
        yield* works(store)
      }).pipe(Effect.scoped)
  )

  it.effect("without a connection left: the calls may be made again, and say whether they may have happened", () =>
    Effect.gen(function* () {
      const { role, served, url } = yield* Own
      const { left, store } = yield* makeStore(served, url)
      yield* query(`alter role ${role} connection limit 0`, [], url)
      yield* query(endSessions, [], url)
      yield* noticeEnds(store)
      for (const [name, call] of Object.entries(calls)) {
        const error = yield* refusal(call(store))
        assert.deepStrictEqual([name, error.reason], [name, { _tag: "DriverFault", transient: true }])
        assert.include(error.message, "max_connections")
      }
      assert.deepStrictEqual(yield* left, untouched)
      yield* query(`alter role ${role} connection limit -1`, [], url)
      yield* works(store)
    }).pipe(Effect.scoped)
  )
})
