/** Transactions of units: what they share, what they keep apart, and what becomes of them when something comes between. */
import { assert, describe, it } from "@effect/vitest"
import { EnqueueRequest, type JobRecord } from "@jobwire/protocol"
import { Effect, Exit, type Scope } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import { databaseUrl } from "../../../../test/support/fresh-postgres.ts"
import * as EmbeddedJobStore from "../../src/drivers/embedded/EmbeddedJobStore.ts"
import type { Storage } from "../../src/drivers/embedded/Storage.ts"
import * as Connections from "../../src/drivers/postgres/Connections.ts"
import { LaneNumbers } from "../../src/drivers/postgres/LaneNumbers.ts"
import * as UnitStorage from "../../src/drivers/postgres/unit/UnitStorage.ts"
import { type Between, broken, once } from "./support/broken-sessions.ts"
import { query } from "./support/database.ts"
import { brokenRules } from "./support/invariants.ts"
import { freshUnits } from "./support/units.ts"

const request = (fields?: Partial<EnqueueRequest>): EnqueueRequest =>
  EnqueueRequest.make({ name: "job", queue: "queue", payload: 1, ...fields })

const dedupe = (key: string) => ({ key, ttlMs: undefined, extend: false, replace: false })

const claimOptions = (token: string) => ({ queue: "queue", names: ["job"], token, lockDurationMs: 1000 })

const together = <A, E>(effects: ReadonlyArray<Effect.Effect<A, E>>) =>
  Effect.all(effects, { concurrency: "unbounded" })

/** The storage of a new store, whose statements something comes between. */
const storageWith = Effect.fnUntraced(function* (
  between: Between
): Effect.fn.Return<{ readonly storage: Storage; readonly number: number }, unknown, Scope.Scope> {
  const { number } = yield* freshUnits
  const connections = yield* Connections.make({ url: databaseUrl() })
  const sessions = { write: broken(connections.hot, between), read: connections.calm }
  const storage = yield* UnitStorage.make(sessions, { number, lanes: new LaneNumbers() })
  return { storage, number }
})

const storeWith = (between: Between) =>
  Effect.flatMap(storageWith(between), ({ number, storage }) =>
    Effect.map(EmbeddedJobStore.make(storage), (store) => ({ store, number }))
  )

/** A storage that counts how many transactions it has begun. */
const countedStorage = Effect.suspend(() => {
  let begun = 0
  const between: Between = (sql, run) => {
    if (sql === "begin") begun++
    return run
  }
  return Effect.map(storageWith(between), (made) => ({ ...made, tries: () => begun }))
})

const idOf = (claimed: unknown): unknown =>
  typeof claimed === "object" && claimed !== null && "job" in claimed ? (claimed.job as JobRecord).id : claimed

const nothingBetween: Between = (_sql, run) => run

const jobsOf = (store: number) =>
  Effect.map(query("select count(*)::int4 from job where store = $1", [store]), ([row]) => row?.[0])

const connectionLost = new SqlError({
  reason: new ConnectionError({ cause: new Error("the line is dead"), message: "the line is dead", operation: "query" })
})

// As a producer's statement does, which waits for no unit.
const insertPlainly = `
  with n as (insert into lane (store, queue, name, priority) values ($1, 'queue', 'other', 0) returning lane),
  j as (
    insert into job (store, seq, id, enqueued_at, attempts_max) select $1, nextval('number'), 'x', 0, 1 returning seq
  )
  insert into live
    (store, seq, lane, queue_key, place, state, plain, cancel_requested, attempts_made, stalled_count, ledger_length, run_at)
  select $1, seq, lane, 0, seq, 0, true, false, 0, 0, 0, 0 from j, n`

const isLoad = (sql: string): boolean => sql.includes("dedupe d")

const isWrite = (sql: string): boolean => sql.startsWith("with w0")

// A backend cannot answer the statement that ends it.
const killed: Between = (_sql, run, session) =>
  session.run("select pg_backend_pid()").pipe(
    Effect.flatMap(([row]) => query("select pg_terminate_backend($1)", [row?.[0]])),
    Effect.andThen(run)
  )

describe("units of one transaction", () => {
  it.effect("one key, fifty enqueues at once: one job", () =>
    Effect.gen(function* () {
      const { number, store } = yield* freshUnits
      const results = yield* together(Array.from({ length: 50 }, () => store.enqueue(request({ dedupe: dedupe("k") }))))
      assert.strictEqual(results.filter(({ duplicate }) => !duplicate).length, 1)
      assert.strictEqual(new Set(results.map(({ id }) => id)).size, 1)
      assert.strictEqual(yield* jobsOf(number), 1)
      assert.deepStrictEqual(yield* brokenRules(number), [])
    })
  )

  it.effect("an enqueue that finds its key held keeps no worker from the job", () =>
    Effect.gen(function* () {
      const free = `
        select count(*)::int4 from (select from live where store = $1 for update skip locked) l`
      const seen: Array<unknown> = []
      const { number, store } = yield* storeWith((sql, run) =>
        sql === "commit"
          ? Effect.andThen(
              Effect.map(look, (rows) => void seen.push(rows[0]?.[0])),
              run
            )
          : run
      )
      const look = query(free, [number])
      yield* store.enqueue(request({ dedupe: dedupe("k") }))
      const { duplicate } = yield* store.enqueue(request({ dedupe: dedupe("k") }))
      assert.isTrue(duplicate)
      // The first is not visible to others before it is committed, and a cancel locks it.
      assert.isTrue(yield* store.cancelByDedupe("job", "k"))
      assert.deepStrictEqual(seen, [0, 1, 0])
      assert.deepStrictEqual(yield* brokenRules(number), [])
    })
  )

  it.effect("a unit that throws takes nobody with it, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const { number, storage } = yield* storageWith(nothingBetween)
      const add = (queue: string) => storage.write((tables) => tables.pauses.add(queue))
      const exits = yield* together([
        Effect.exit(add("before")),
        Effect.exit(
          storage.write((tables) => {
            tables.pauses.add("thrown")
            throw new Error("a bug")
          })
        ),
        Effect.exit(add("behind"))
      ])
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true])
      assert.isTrue(exits[1] !== undefined && Exit.hasDies(exits[1]))
      const paused = yield* query("select queue from pause where store = $1 order by queue", [number])
      assert.deepStrictEqual(paused.flat(), ["before", "behind"])
    })
  )

  it.effect("what the database refuses of one unit is refused to that one alone", () =>
    Effect.gen(function* () {
      const { number, storage } = yield* storageWith(nothingBetween)
      const add = (queue: string) => storage.write((tables) => tables.pauses.add(queue))
      // No column takes a NUL character, and no caller gets here with one.
      const exits = yield* together(["before", "\u0000", "behind"].map((queue) => Effect.exit(add(queue))))
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true])
      const paused = yield* query("select queue from pause where store = $1 order by queue", [number])
      assert.deepStrictEqual(paused.flat(), ["before", "behind"])
    })
  )

  it.effect("a claim finds the head of the line, though others of the line are known already", () =>
    Effect.gen(function* () {
      const { store } = yield* freshUnits
      const ids = ["a", "b", "c"]
      yield* store.enqueueMany(ids.map((id) => request({ id })))
      yield* store.claimMany({ ...claimOptions(""), tokens: ids })
      yield* Effect.forEach(["a", "b"], (id) => store.release(id, id))
      // The head that was looked up for the claim is gone when its turn comes, and there is one that came back behind.
      const [, , claimed] = yield* together<unknown, unknown>([
        store.release("c", "c"),
        store.cancel("a"),
        store.claim(claimOptions("t"))
      ])
      assert.strictEqual(idOf(claimed), "b")
    })
  )

  it.effect("a token may end one job and get another, and two may change their jobs", () =>
    Effect.gen(function* () {
      const { number, storage, tries } = yield* countedStorage
      const store = yield* EmbeddedJobStore.make(storage)
      const ids = ["a", "b", "c", "d"]
      yield* store.enqueueMany(ids.map((id) => request({ id, priority: 1 })))
      yield* store.claimMany({ ...claimOptions(""), tokens: ["t1", "t2"] })
      const before = tries()
      const [, , , ...claimed] = yield* together<unknown, unknown>([
        store.release("a", "t1"),
        store.release("b", "t2"),
        store.enqueue(request({ id: "first", priority: 2 })),
        store.claim(claimOptions("t3")),
        store.claim(claimOptions("t2")),
        store.claim(claimOptions("t1"))
      ])
      assert.deepStrictEqual(claimed.map(idOf), ["first", "a", "b"])
      yield* together<unknown, unknown>([
        store.ack("a", "t2", { _tag: "Complete", exit: 1 }),
        store.claim(claimOptions("t2")),
        store.remove("c")
      ])
      assert.strictEqual(tries() - before, 2)
      assert.deepStrictEqual(yield* brokenRules(number), [])
    })
  )

  it.effect("of jobs that end in different turns, retention keeps the newest", () =>
    Effect.gen(function* () {
      const { number, store } = yield* freshUnits
      const keep = { completed: undefined, failed: { count: 2, ageMs: undefined }, cancelled: undefined }
      const ids = ["old", "older", "fails", "parent"]
      yield* store.enqueueMany(ids.map((id) => request({ id, keep })))
      yield* store.claimMany({ ...claimOptions(""), tokens: ids })
      const fail = { _tag: "Fail" as const, exit: 1 }
      yield* store.ackMany(["older", "old"].map((id) => ({ id, token: id, outcome: fail })))
      const child = { childKey: "k", storeKey: "s", request: request({ id: "child" }) }
      yield* store.ack("parent", "parent", { _tag: "FanOut", failFast: true, children: [child] })
      const report = { flowId: "parent", childKey: "k", outcome: "failed" as const, exit: 1, failedReason: undefined }
      // The report finds its parent a turn later than the ack finds its job.
      yield* together<unknown, unknown>([store.ack("fails", "fails", fail), store.recordChildResults([report])])
      const { items } = yield* store.list({ states: ["failed"] })
      assert.sameMembers(
        items.map(({ id }) => id),
        ["fails", "parent"]
      )
      assert.deepStrictEqual(yield* brokenRules(number), [])
    })
  )

  it.effect("of many that end together, retention keeps the newest", () =>
    Effect.gen(function* () {
      const { number, store } = yield* freshUnits
      const keep = { completed: { count: 2, ageMs: undefined }, failed: undefined, cancelled: undefined }
      const ids = Array.from({ length: 8 }, (_, index) => `job-${index}`)
      yield* store.enqueueMany(ids.map((id) => request({ id, keep })))
      const { jobs } = yield* store.claimMany({ ...claimOptions(""), tokens: ids })
      const ends = jobs.map(({ job, token }) => ({
        id: job.id,
        token,
        outcome: { _tag: "Complete" as const, exit: 1 }
      }))
      yield* store.ackMany(ends.slice(0, 2))
      yield* together([
        store.ackMany(ends.slice(2, 5)),
        ...ends.slice(5).map((end) => store.ack(end.id, end.token, end.outcome))
      ])
      const { items } = yield* store.list({ orderBy: "finishedAt" })
      assert.sameMembers(
        items.map(({ id }) => id),
        ["job-6", "job-7"]
      )
      assert.deepStrictEqual(yield* brokenRules(number), [])
    })
  )
})

describe("a transaction of units that something comes between", () => {
  const enqueueOne = Effect.fnUntraced(function* (between: Between) {
    const { number, store } = yield* storeWith(between)
    const result = yield* store.enqueue(request({ id: "x", dedupe: dedupe("k") }))
    assert.strictEqual(yield* jobsOf(number), 1)
    assert.deepStrictEqual(yield* brokenRules(number), [])
    return result
  })

  it.effect("somebody gives the same id meanwhile: it looks again, and finds it", () =>
    Effect.gen(function* () {
      const { number, store } = yield* storeWith((...statement) => between(...statement))
      const between = once(isWrite, (_sql, run) => Effect.andThen(query(insertPlainly, [number]), run))
      assert.deepStrictEqual(yield* store.enqueue(request({ id: "x" })), { id: "x", duplicate: true })
      assert.strictEqual(yield* jobsOf(number), 1)
    })
  )

  it.effect("the backend is killed before the writes: it runs again", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* enqueueOne(once(isWrite, killed)), { id: "x", duplicate: false })
    })
  )

  it.effect("the backend is killed while units run: it runs again", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* enqueueOne(once(isLoad, killed)), { id: "x", duplicate: false })
    })
  )

  it.effect("the backend is killed before it commits: it runs again", () =>
    Effect.gen(function* () {
      const between = once((sql) => sql === "commit", killed)
      assert.deepStrictEqual(yield* enqueueOne(between), { id: "x", duplicate: false })
    })
  )

  it.effect("the answer of the commit is lost: the database knows that it was carried out", () =>
    Effect.gen(function* () {
      const between = once(
        (sql) => sql === "commit",
        (_sql, run) => Effect.andThen(run, Effect.fail(connectionLost))
      )
      assert.deepStrictEqual(yield* enqueueOne(between), { id: "x", duplicate: false })
    })
  )
})
