/** The ids of jobs whose producers gave none: the store's own, and those of an application's generator. */
import { EnqueueRequest, type JobStore } from "@jobwire/protocol"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { StoreOptions } from "../../src/drivers/embedded/StoreOptions.ts"
import * as MemoryJobStore from "../../src/drivers/memory/MemoryJobStore.ts"

const request = (fields: Partial<EnqueueRequest> = {}): EnqueueRequest =>
  EnqueueRequest.make({ name: "name", queue: "queue", payload: null, ...fields })

const keyed = (fields: Partial<EnqueueRequest> = {}) =>
  request({ dedupe: { key: "key", ttlMs: undefined, extend: false, replace: false }, ...fields })

const withStore = <A, E>(
  options: StoreOptions,
  body: (store: JobStore.Service) => Effect.Effect<A, E>
): Effect.Effect<A, E> => Effect.scoped(Effect.flatMap(MemoryJobStore.make(options), body))

/** A generator that gives these ids in order, after others had their turn. */
const generatorOf = (...ids: ReadonlyArray<string>) => {
  let draws = 0
  const generate = () => Effect.as(Effect.yieldNow, ids[Math.min(draws++, ids.length - 1)] ?? "")
  return { generate, draws: () => draws }
}

describe("the store's own ids", () => {
  it.effect("are version 7 UUIDs, all different and growing", () =>
    withStore({}, (store) =>
      Effect.gen(function* () {
        const results = yield* store.enqueueMany(Array.from({ length: 1_200 }, () => request()))
        const ids = results.map(({ id }) => id)
        assert.strictEqual(new Set(ids).size, ids.length)
        assert.deepStrictEqual(ids, ids.toSorted())
        for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      })
    )
  )
})

describe("an application's generator", () => {
  it.effect("is asked for what has no id, and sees the request", () => {
    const seen: Array<string> = []
    const idGenerator = (asked: EnqueueRequest) => {
      seen.push(asked.name)
      return `drawn-${asked.name}`
    }
    return withStore({ idGenerator }, (store) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          yield* store.enqueueMany([request({ name: "one" }), request({ id: "given" }), request({ name: "two" })]),
          [
            { id: "drawn-one", duplicate: false },
            { id: "given", duplicate: false },
            { id: "drawn-two", duplicate: false }
          ]
        )
        assert.deepStrictEqual(seen, ["one", "two"])
      })
    )
  })

  it.effect("makes one job of concurrent enqueues under one key, although it is an effect", () => {
    const { generate } = generatorOf("a", "b", "c")
    return withStore({ idGenerator: generate }, (store) =>
      Effect.gen(function* () {
        const results = yield* Effect.all(
          [1, 2, 3].map(() => store.enqueue(keyed())),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(results.map(({ id }) => id)).size, 1)
        assert.lengthOf(
          results.filter(({ duplicate }) => !duplicate),
          1
        )
        assert.strictEqual((yield* store.counts()).waiting, 1)
      })
    )
  })

  it.effect("is not asked for an enqueue that a key holds off, in a batch neither", () => {
    const { draws, generate } = generatorOf("a", "b")
    return withStore({ idGenerator: generate }, (store) =>
      Effect.gen(function* () {
        yield* store.enqueue(keyed())
        yield* store.enqueue(keyed())
        assert.deepStrictEqual(yield* store.enqueueMany([keyed(), request()]), [
          { id: "a", duplicate: true },
          { id: "b", duplicate: false }
        ])
        assert.strictEqual(draws(), 2)
      })
    )
  })

  it.effect("is asked again when an id is taken", () => {
    const { draws, generate } = generatorOf("taken", "taken", "free")
    return withStore({ idGenerator: generate }, (store) =>
      Effect.gen(function* () {
        yield* store.enqueue(request({ id: "taken" }))
        assert.deepStrictEqual(yield* store.enqueue(request()), { id: "free", duplicate: false })
        assert.strictEqual(draws(), 3)
      })
    )
  })

  it.effect("is given up after five taken ids, with an error that names the last one", () => {
    const { draws, generate } = generatorOf("taken")
    return withStore({ idGenerator: generate }, (store) =>
      Effect.gen(function* () {
        yield* store.enqueue(request({ id: "taken" }))
        const error = yield* Effect.flip(store.enqueue(request()))
        assert.include(error.message, '"taken"')
        assert.isFalse(error.isRetryable)
        assert.strictEqual(draws(), 5)
        assert.strictEqual((yield* store.counts()).waiting, 1)
      })
    )
  })

  it.effect("that gives a bad id fails the enqueue and says what was wrong", () =>
    withStore({ idGenerator: () => "" }, (store) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(store.enqueue(request()))
        assert.include(error.message, "idGenerator gave a bad id")
        assert.include(error.message, "must not be empty")
      })
    )
  )

  it.effect("serves a batch longer than one unit of work, each result in its place", () => {
    let drawn = 0
    return withStore({ idGenerator: () => `id-${drawn++}` }, (store) =>
      Effect.gen(function* () {
        const same = request()
        const results = yield* store.enqueueMany(Array.from({ length: 1_100 }, () => same))
        assert.deepStrictEqual(
          results,
          Array.from({ length: 1_100 }, (_, index) => ({ id: `id-${index}`, duplicate: false }))
        )
      })
    )
  })
})
