/** What a server remembers of lines is a hint: whatever others have done to them, a claim finds the best job, or says truly that there is none. */
import { assert, describe, it } from "@effect/vitest"
import { EnqueueRequest, type JobStore } from "@jobwire/protocol"
import { Deferred, Effect, Fiber } from "effect"
import { Watermarks } from "../../src/drivers/postgres/hot/Watermarks.ts"
import { numberOf, query } from "./support/database.ts"
import { makeFleet } from "./support/races.ts"

const queue = "queue"

const request = (fields: Partial<EnqueueRequest> = {}): EnqueueRequest =>
  EnqueueRequest.make({ name: "a", queue, payload: { n: 1 }, ...fields })

type Store = JobStore.JobStore["Service"]
let tokens = 0

const claim = (store: Store, names: ReadonlyArray<string> = ["a"]) =>
  Effect.map(store.claim({ queue, names, token: `token ${tokens++}`, lockDurationMs: 60_000 }), (result) =>
    result._tag === "Claimed" ? result.job.id : result._tag
  )

// As if a transaction had drawn its number early and committed late.
const insertLate = `
  with n as (select lane, queue_key from live where store = $1 limit 1), j as (
    insert into job (store, seq, id, enqueued_at, attempts_max) values ($1, $3::float8::int8, $2, 1, 1)
  )
  insert into live
    (store, seq, lane, queue_key, place, state, plain, cancel_requested, attempts_made, stalled_count, ledger_length, run_at)
  select $1, $3::float8::int8, n.lane, n.queue_key, $3::float8::int8, 0, true, false, 0, 0, 0, 1 from n`

const drawNumber = Effect.map(query("select nextval('number')::float8"), (rows) => Number(rows[0]?.[0]))

/** Claims of one lane. */
const marks = () => {
  const watermarks = new Watermarks()
  return {
    /** Claims at this moment, and finds the place at the head. */
    claim: (now: number, place: number) => {
      const start = watermarks.start(1, now)
      watermarks.found(1, place, now)
      return start
    },
    watermarks
  }
}

describe("a claim", () => {
  it.live("finds a job that was committed behind those that were taken before it", () =>
    Effect.gen(function* () {
      const { name, server } = yield* makeFleet(1)
      const number = yield* drawNumber
      yield* server(0).enqueueMany(Array.from({ length: 50 }, () => request()))
      for (let taken = 0; taken < 50; taken++) assert.notStrictEqual(yield* claim(server(0)), "Empty")
      yield* Effect.sleep("150 millis")
      yield* server(0).enqueue(request({ id: "later" }))
      assert.strictEqual(yield* claim(server(0)), "later")
      yield* query(insertLate, [yield* numberOf(name), "early", number])
      assert.strictEqual(yield* claim(server(0)), "early")
      assert.strictEqual(yield* claim(server(0)), "Empty")
    }).pipe(Effect.scoped)
  )

  it.live("finds it soon when there are others, too", () =>
    Effect.gen(function* () {
      const { name, server } = yield* makeFleet(1)
      const number = yield* drawNumber
      yield* server(0).enqueueMany(Array.from({ length: 4000 }, () => request()))
      const claimSome = Effect.suspend(() =>
        server(0).claimMany({
          queue,
          names: ["a"],
          tokens: Array.from({ length: 5 }, () => `token ${tokens++}`),
          lockDurationMs: 60_000
        })
      )
      for (let turn = 0; turn < 30; turn++) yield* Effect.andThen(claimSome, Effect.sleep("5 millis"))
      yield* query(insertLate, [yield* numberOf(name), "early", number])
      const began = performance.now()
      let found = false
      while (!found) {
        const { jobs } = yield* claimSome
        found = jobs.some(({ job }) => job.id === "early")
        if (performance.now() - began > 10_000) return assert.fail("ten seconds later it was not found")
        yield* Effect.sleep("5 millis")
      }
      // Twice a second it is looked for; the machine may be busy.
      assert.isBelow(performance.now() - began, 3000)
    }).pipe(Effect.scoped)
  )

  it.live("finds jobs in lanes that another server has made", () =>
    Effect.gen(function* () {
      const { server } = yield* makeFleet(2)
      assert.strictEqual(yield* claim(server(0), ["a", "b"]), "Empty")
      yield* server(1).enqueue(request({ id: "a0" }))
      assert.strictEqual(yield* claim(server(0), ["a", "b"]), "a0")
      yield* server(1).enqueueMany([
        request({ id: "a0 again" }),
        request({ id: "a5", priority: 5 }),
        request({ id: "b9", name: "b", priority: 9 })
      ])
      assert.strictEqual(yield* claim(server(0), ["a", "b"]), "b9")
      assert.strictEqual(yield* claim(server(0), ["b", "a"]), "a5")
      assert.strictEqual(yield* claim(server(0), ["a"]), "a0 again")
      assert.strictEqual(yield* claim(server(0), ["a", "b"]), "Empty")
    }).pipe(Effect.scoped)
  )

  it.live("does not say that a queue is empty while another holds its only job, and may let it go", () =>
    Effect.gen(function* () {
      const { name, server } = yield* makeFleet(1)
      yield* server(0).enqueue(request({ id: "held" }))
      const number = yield* numberOf(name)
      const isLocked = yield* Deferred.make<void>()
      // Locks the row, as a unit does that thinks better of it.
      const hold = query(
        `do $$ begin perform from jobwire.live where store = ${number} for update; perform pg_sleep(0.4); end $$`
      )
      const holder = yield* Effect.forkScoped(hold)
      yield* Effect.forkScoped(
        Effect.andThen(
          Effect.repeat(
            query(
              "select count(*)::int4 from pg_stat_activity where query like 'do $$ begin perform from jobwire.live%' and wait_event = 'PgSleep'"
            ),
            { until: (rows) => Number(rows[0]?.[0]) > 0 }
          ),
          Deferred.succeed(isLocked, undefined)
        )
      )
      yield* Deferred.await(isLocked)
      assert.strictEqual(yield* claim(server(0)), "held")
      yield* Fiber.join(holder)
    }).pipe(Effect.scoped)
  )
})

describe("watermarks", () => {
  it("begin at the front, then where the head was some moments ago", () => {
    const { claim } = marks()
    assert.strictEqual(claim(0, 100), 0)
    assert.strictEqual(claim(10, 200), 0)
    for (let now = 20; now < 400; now += 10) {
      const start = claim(now, 20 * now)
      assert.isAtMost(start, Math.max(0, 20 * (now - 50)))
      if (now > 200) assert.isAtLeast(start, 20 * (now - 120))
    }
  })

  it("look back over some seconds twice a second, and over all every ten seconds", () => {
    const { claim } = marks()
    let lookedBackAt = 0
    let beganAtFrontAt = 0
    for (let now = 0; now < 60_000; now += 20) {
      const start = claim(now, now)
      if (start <= now - 5000 || start === 0) lookedBackAt = now
      if (start === 0) beganAtFrontAt = now
      assert.isAtMost(now - lookedBackAt, 520)
      assert.isAtMost(now - beganAtFrontAt, 10_020)
    }
  })

  it("never go back when a claim finds an earlier place, and forget when told", () => {
    const { claim, watermarks } = marks()
    claim(0, 1000)
    for (let now = 10; now < 200; now += 10) claim(now, 1000)
    claim(200, 5)
    claim(310, 5)
    assert.strictEqual(claim(320, 5), 1000)
    watermarks.forget(1)
    assert.strictEqual(claim(330, 5), 0)
  })

  it("of one lane say nothing of another", () => {
    const watermarks = new Watermarks()
    watermarks.found(1, 500, 0)
    assert.strictEqual(watermarks.start(2, 1000), 0)
  })
})
