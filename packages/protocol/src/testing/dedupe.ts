/** Dedupe keys: how long they hold, what frees them, what a dropped enqueue does. `dedupeReplace.ts` has `replace`. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { DedupePolicy } from "../Policy.ts"
import * as States from "./stateKit.ts"
import * as Kit from "./kit.ts"

const key = (fields?: Partial<DedupePolicy>) => ({ dedupe: Kit.dedupe("key", fields) })

/** Asserts that an enqueue under the key is dropped in favour of this job. */
const isDropped = Effect.fnUntraced(function* (store: Kit.Store, id: string, fields?: Partial<DedupePolicy>) {
  const { length } = (yield* store.list({})).items
  const result = yield* store.enqueue(Kit.request({ payload: "dropped", ...key(fields) }))
  assert.deepStrictEqual(result, { id, duplicate: true })
  assert.strictEqual((yield* store.list({})).items.length, length, "a dropped enqueue left a job behind")
})

/** Asserts that an enqueue under the key makes a job of its own, which is removed again. */
const isFree = Effect.fnUntraced(function* (store: Kit.Store) {
  const id = Kit.unique("successor")
  const result = yield* store.enqueue(Kit.request({ id, ...key() }))
  assert.deepStrictEqual(result, { id, duplicate: false })
})

const keys = (test: Kit.Test) => {
  test("a key is scoped by the name of the job", (store) =>
    Effect.gen(function* () {
      const first = yield* Kit.add(store, key())
      const other = yield* Kit.add(store, { ...key(), name: "other" })
      assert.notStrictEqual(first, other)
      yield* isDropped(store, first)
    }))

  test("a key is not scoped by the queue", (store) =>
    Effect.gen(function* () {
      const first = yield* Kit.add(store, key())
      const result = yield* store.enqueue(Kit.request({ ...key(), queue: "other" }))
      assert.deepStrictEqual(result, { id: first, duplicate: true })
    }))

  test("a key never changes an id: the caller's is kept, and the record names the key", (store) =>
    Effect.gen(function* () {
      const result = yield* store.enqueue(Kit.request({ id: "mine", ...key() }))
      assert.deepStrictEqual(result, { id: "mine", duplicate: false })
      yield* Kit.isJob(store, "mine", { id: "mine", dedupeKey: "key" })
    }))

  test("a dropped enqueue answers with the id of the keyed job, drops its own id, and changes nothing", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "keyed", ...key(), payload: "kept" })
      const before = yield* Kit.find(store, "keyed")
      yield* Kit.pass(1)
      const request = Kit.request({ id: "dropped", ...key(), payload: "new", priority: 5, delayMs: 9 })
      assert.deepStrictEqual(yield* store.enqueue(request), { id: "keyed", duplicate: true })
      yield* Kit.isGone(store, "dropped")
      assert.deepStrictEqual(yield* Kit.find(store, "keyed"), before)
    }))

  test("keys and names are not joined: a name that ends like a key starts is another", (store) =>
    Effect.gen(function* () {
      const first = yield* Kit.add(store, { name: "a", dedupe: Kit.dedupe("b:c") })
      const second = yield* Kit.add(store, { name: "a:b", dedupe: Kit.dedupe("c") })
      const third = yield* Kit.add(store, { name: "a", dedupe: Kit.dedupe("B:c") })
      assert.strictEqual(new Set([first, second, third]).size, 3)
    }))
}

const held = (test: Kit.Test) => {
  for (const state of ["waiting", "delayed", "active", "waiting-children"] as const) {
    test(`without ttlMs a key holds while its job is ${state}, however long`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state, key())
        yield* Kit.pass(3_600_000)
        yield* isDropped(store, id)
        yield* Kit.isJob(store, id, { state })
      }))
  }

  for (const state of ["completed", "failed", "cancelled"] as const) {
    test(`without ttlMs a key is free once an ack made its job ${state}`, (store) =>
      Effect.gen(function* () {
        yield* States.addIn(store, state, key())
        yield* isFree(store)
      }))
  }

  test("a key holds over a retried, a released and a recovered run", (store) =>
    Effect.gen(function* () {
      const first = yield* Kit.addAndTake(store, key())
      yield* store.ack(first.id, first.token, Kit.again())
      yield* isDropped(store, first.id)
      const second = yield* Kit.take(store)
      yield* store.release(second.id, second.token)
      yield* isDropped(store, first.id)
      yield* Kit.take(store, { lockDurationMs: 10 })
      yield* Kit.pass(10)
      yield* store.recoverStalled({ maxStalledCount: 1 })
      yield* isDropped(store, first.id)
    }))

  for (const state of ["waiting", "delayed", "waiting-children"] as const) {
    test(`a cancel of a ${state} job frees its key`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state, key())
        yield* store.cancel(id)
        yield* isFree(store)
      }))
  }

  test("a cancel request does not free the key until the run has ended", (store) =>
    Effect.gen(function* () {
      const job = yield* Kit.addAndTake(store, key())
      yield* store.cancel(job.id)
      yield* isDropped(store, job.id)
      yield* store.ack(job.id, job.token, Kit.again())
      yield* isFree(store)
    }))

  test("a cancel honoured by release frees the key", (store) =>
    Effect.gen(function* () {
      const job = yield* Kit.addAndTake(store, key())
      yield* store.cancel(job.id)
      yield* store.release(job.id, job.token)
      yield* isFree(store)
    }))

  test("a cancel honoured by recovery, and stall exhaustion, free the key", (store) =>
    Effect.gen(function* () {
      const job = yield* Kit.addAndTake(store, key(), { lockDurationMs: 10 })
      yield* store.cancel(job.id)
      yield* Kit.pass(10)
      yield* store.recoverStalled({ maxStalledCount: 0 })
      const next = yield* Kit.addAndTake(store, key(), { lockDurationMs: 10 })
      yield* Kit.pass(10)
      assert.deepStrictEqual(yield* store.recoverStalled({ maxStalledCount: 0 }), [{ id: next.id, failed: true }])
      yield* isFree(store)
    }))

  test("remove frees the key of a job without a window", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, key())
      assert.isTrue(yield* store.remove(id))
      yield* isFree(store)
    }))

  test("the key of a removed job does not pass on to a later job under its id", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "job", ...key() })
      yield* store.remove("job")
      yield* Kit.add(store, { id: "job" })
      yield* isFree(store)
      assert.isTrue(yield* store.cancelByDedupe(Kit.name, "key"))
      yield* Kit.areStates(store, { job: "waiting" })
    }))

  test("a job that lost its key does not free the key of its successor", (store) =>
    Effect.gen(function* () {
      const old = yield* States.addIn(store, "failed", { id: "old", ...key() })
      yield* Kit.add(store, { id: "successor", ...key(), delayMs: 1_000 })
      yield* store.retry(old)
      const again = yield* Kit.take(store)
      yield* store.ack(again.id, again.token, Kit.complete())
      yield* Kit.areStates(store, { old: "completed", successor: "delayed" })
      yield* isDropped(store, "successor")
    }))
}

const windows = (test: Kit.Test) => {
  test("a ttl window drops while it lasts, and ends exactly ttlMs after the enqueue", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, key({ ttlMs: 1_000 }))
      yield* isDropped(store, id, { ttlMs: 1_000 })
      yield* Kit.pass(999)
      yield* isDropped(store, id, { ttlMs: 1_000 })
      yield* Kit.pass(1)
      yield* isFree(store)
    }))

  for (const state of ["completed", "failed", "cancelled"] as const) {
    test(`a ttl window outlasts its job (${state})`, (store) =>
      Effect.gen(function* () {
        const id = yield* States.addIn(store, state, key({ ttlMs: 1_000 }))
        yield* Kit.pass(999)
        yield* isDropped(store, id)
        yield* Kit.isJob(store, id, { state })
        yield* Kit.pass(1)
        yield* isFree(store)
      }))
  }

  test("a ttl window outlasts the record of its job", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, key({ ttlMs: 1_000 }))
      assert.isTrue(yield* store.remove(id))
      yield* isDropped(store, id)
      yield* Kit.pass(1_000)
      yield* isFree(store)
    }))

  test("when the window has ended a new job takes the key, though the old one is still waiting", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "old", ...key({ ttlMs: 100 }) })
      yield* Kit.pass(100)
      yield* Kit.add(store, { id: "new", ...key({ ttlMs: 100 }) })
      const old = yield* Kit.take(store)
      assert.strictEqual(old.id, "old")
      yield* store.ack(old.id, old.token, Kit.complete())
      yield* isDropped(store, "new")
    }))

  test("a dropped enqueue does not push the window out", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, key({ ttlMs: 1_000 }))
      yield* Kit.pass(600)
      yield* isDropped(store, id, { ttlMs: 1_000 })
      yield* Kit.pass(400)
      yield* isFree(store)
    }))

  test("with extend every dropped enqueue pushes the window out to its own ttlMs from now", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, key({ ttlMs: 1_000, extend: true }))
      yield* Kit.pass(600)
      yield* isDropped(store, id, { ttlMs: 1_000, extend: true })
      yield* Kit.pass(999)
      yield* isDropped(store, id, { ttlMs: 2_000, extend: true })
      yield* Kit.pass(1_999)
      yield* isDropped(store, id)
      yield* Kit.pass(1)
      yield* isFree(store)
    }))

  test("extend works past the end of the job", (store) =>
    Effect.gen(function* () {
      const id = yield* States.addIn(store, "completed", key({ ttlMs: 1_000 }))
      yield* Kit.pass(999)
      yield* isDropped(store, id, { ttlMs: 1_000, extend: true })
      yield* Kit.pass(999)
      yield* isDropped(store, id)
      yield* Kit.pass(1)
      yield* isFree(store)
    }))

  test("a dropped enqueue with a ttlMs makes no window of a key that holds without one", (store) =>
    Effect.gen(function* () {
      const job = yield* Kit.addAndTake(store, key())
      yield* isDropped(store, job.id, { ttlMs: 1_000, extend: true })
      yield* Kit.pass(5_000)
      yield* isDropped(store, job.id)
      yield* isDropped(store, job.id, { ttlMs: 1_000, extend: true })
      yield* store.ack(job.id, job.token, Kit.complete())
      yield* isFree(store)
    }))
}

export const dedupe = (test: Kit.Test) =>
  describe("dedupe", () => {
    keys(test)
    held(test)
    windows(test)
  })
