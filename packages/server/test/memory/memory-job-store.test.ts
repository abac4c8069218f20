/** The layers of the memory store, and that nobody shares its values. */
import { EnqueueRequest, JobStore } from "@jobwire/protocol"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import * as EmbeddedJobStore from "../../src/drivers/embedded/EmbeddedJobStore.ts"
import * as MemoryJobStore from "../../src/drivers/memory/MemoryJobStore.ts"
import { memoryStorage } from "../../src/drivers/memory/MemoryStorage.ts"
import * as MemoryTables from "../../src/drivers/memory/MemoryTables.ts"
import { JobStores } from "../../src/JobStores.ts"

const request = (id: string, fields: Partial<EnqueueRequest> = {}): EnqueueRequest =>
  EnqueueRequest.make({ id, name: "name", queue: "queue", payload: null, ...fields })

/** Enqueues a job and completes it. */
const addFinished = Effect.fnUntraced(function* (
  store: JobStore.Service,
  id: string,
  fields?: Partial<EnqueueRequest>
) {
  yield* store.enqueue(request(id, fields))
  yield* store.claim({ queue: "queue", names: ["name"], token: id, lockDurationMs: 1_000 })
  yield* store.ack(id, id, { _tag: "Complete", exit: undefined })
})

describe("layers", () => {
  it.effect("make a new store each time they are built", () =>
    Effect.gen(function* () {
      const add = Effect.flatMap(JobStore.JobStore, (store) => store.enqueue(request("same")))
      const results = yield* Effect.all([
        Effect.provide(add, MemoryJobStore.layer, { local: true }),
        Effect.provide(add, MemoryJobStore.layer, { local: true })
      ])
      assert.deepStrictEqual(
        results.map(({ duplicate }) => duplicate),
        [false, false]
      )
    })
  )

  it.effect("give named stores of their own", () => {
    const one = JobStore.named("one")
    const other = JobStore.named("other")
    return Effect.gen(function* () {
      const store = yield* one
      yield* store.enqueue(request("job"))
      assert.isTrue(Option.isSome(yield* store.getJob("job")))
      assert.isTrue(Option.isNone(yield* (yield* other).getJob("job")))
    }).pipe(Effect.provide(Layer.mergeAll(MemoryJobStore.layerFor(one), MemoryJobStore.layerFor(other))))
  })

  it.effect("give a directory whose stores are kept, and kept apart by tenant and by name", () =>
    Effect.gen(function* () {
      const stores = yield* JobStores
      const get = (tenant: string, store: string) => stores.get({ tenant, store })
      const [first] = yield* Effect.all([get("a", "x"), get("a", "x")], { concurrency: "unbounded" })
      yield* first.enqueue(request("job"))
      assert.isTrue(Option.isSome(yield* (yield* get("a", "x")).getJob("job")))
      assert.isTrue(Option.isNone(yield* (yield* get("a", "y")).getJob("job")))
      assert.isTrue(Option.isNone(yield* (yield* get("b", "x")).getJob("job")))
    }).pipe(Effect.provide(MemoryJobStore.layerStores()))
  )
})

describe("values", () => {
  it.effect("are the store's own: neither producer nor reader can change them", () =>
    Effect.gen(function* () {
      const store = yield* JobStore.JobStore
      const payload = { list: [1] }
      const metadata = { tenant: "a" }
      yield* store.enqueue(request("job", { payload, metadata }))
      payload.list.push(2)
      metadata.tenant = "b"
      const read = Effect.map(store.getJob("job"), Option.getOrThrow)
      const seen = yield* read
      assert.deepStrictEqual([seen.payload, seen.metadata], [{ list: [1] }, { tenant: "a" }])
      ;(seen.payload as typeof payload).list.push(3)
      assert.throws(() => Object.assign(seen.metadata, { tenant: "c" }), TypeError)
      assert.deepStrictEqual((yield* read).payload, { list: [1] })
    }).pipe(Effect.provide(MemoryJobStore.layer, { local: true }))
  )
})

describe("historyTtl", () => {
  it.effect("deletes finished jobs on its timer, each state after its own time", () =>
    Effect.gen(function* () {
      const store = yield* JobStore.JobStore
      yield* addFinished(store, "completed")
      yield* store.enqueue(request("cancelled"))
      yield* store.cancel("cancelled")
      yield* store.enqueue(request("waiting"))
      yield* TestClock.adjust("10 seconds")
      assert.isTrue(Option.isNone(yield* store.getJob("completed")))
      assert.isTrue(Option.isSome(yield* store.getJob("cancelled")))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(
        (yield* store.list({})).items.map(({ id }) => id),
        ["waiting"]
      )
    }).pipe(
      Effect.provide(
        MemoryJobStore.layerWith({
          historyTtl: { completed: "5 seconds", cancelled: "1 minute" },
          historySweepInterval: "10 seconds"
        })
      )
    )
  )

  it.effect("honours a stricter age rule of the job", () =>
    Effect.gen(function* () {
      const store = yield* JobStore.JobStore
      const keep = { completed: { count: undefined, ageMs: 1_000 }, failed: undefined, cancelled: undefined }
      yield* addFinished(store, "strict", { keep })
      yield* addFinished(store, "plain", { name: "name" })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(
        (yield* store.list({})).items.map(({ id }) => id),
        ["plain"]
      )
    }).pipe(Effect.provide(MemoryJobStore.layerWith({ historyTtl: "1 hour" })))
  )

  it.effect("sweeps more than fit one unit of work", () =>
    Effect.gen(function* () {
      const store = yield* JobStore.JobStore
      const { length } = yield* store.enqueueMany(Array.from({ length: 2_500 }, (_, index) => request(`job-${index}`)))
      for (let index = 0; index < length; index++) yield* store.cancel(`job-${index}`)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* store.counts()).cancelled, 0)
    }).pipe(Effect.provide(MemoryJobStore.layerWith({ historyTtl: "1 second" })))
  )
})

const dedupe = (key: string, ttlMs: number | undefined) => ({ key, ttlMs, extend: false, replace: false })

describe("dedupe windows", () => {
  it.effect("are forgotten on the timer once they and their jobs are over, also without a historyTtl", () =>
    Effect.gen(function* () {
      const tables = MemoryTables.make()
      const store = yield* EmbeddedJobStore.make(memoryStorage(tables))
      yield* store.enqueue(request("over", { dedupe: dedupe("over", 59_000) }))
      yield* store.enqueue(request("open", { dedupe: dedupe("open", 61_000) }))
      yield* store.enqueue(request("waiting", { dedupe: dedupe("waiting", 59_000) }))
      yield* store.enqueue(request("pending", { dedupe: dedupe("pending", undefined) }))
      yield* store.cancel("over")
      yield* store.cancel("open")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(
        Array.from(tables.dedupes.all(), ({ key }) => key),
        ["open", "waiting", "pending"]
      )
    })
  )
})
