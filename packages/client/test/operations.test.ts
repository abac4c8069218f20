/** Every operation over every way: arguments and results as in the process, errors as the same classes. */
import { assert, describe, it } from "@effect/vitest"
import {
  type Ack,
  acked,
  type AckResult,
  EnqueueRequest,
  type EnqueueResult,
  JobNotCancellableError,
  JobNotFoundError,
  JobNotPromotableError,
  JobNotRetryableError,
  JobStoreError,
  LockLostError,
  operationNames
} from "@jobwire/protocol"
import { Effect } from "effect"
import { stubStore } from "../../../test/support/stub-store.ts"
import { errorOf, serve, ways, wide } from "./support/jobwire.ts"
import { answering } from "./support/misbehaving.ts"

const request = (payload: unknown = 1) => EnqueueRequest.make({ name: "n", queue: "q", payload })

describe.each(ways)("over $name", ({ make }) => {
  it.live("has every operation of the table", () =>
    Effect.gen(function* () {
      const remote = yield* make({ url: "http://127.0.0.1:1" })
      assert.deepStrictEqual(Object.keys(remote).toSorted(), operationNames.toSorted())
    })
  )

  it.live("the errors of operations arrive as the classes that they were", () =>
    Effect.gen(function* () {
      const state = "completed" as const
      const driverFault = new JobStoreError({ message: "disk full", reason: { _tag: "DriverFault", transient: true } })
      const server = yield* serve(
        stubStore({
          ack: () => Effect.fail(new LockLostError({ jobId: "1" })),
          release: () => Effect.fail(new JobNotFoundError({ jobId: "2" })),
          retry: () => Effect.fail(new JobNotRetryableError({ jobId: "3", state })),
          cancel: () => Effect.fail(new JobNotCancellableError({ jobId: "4", state })),
          promote: () => Effect.fail(new JobNotPromotableError({ jobId: "5", state })),
          counts: () => Effect.fail(driverFault)
        })
      )
      const remote = yield* make({ url: server.url })
      const lockLost = yield* Effect.flip(remote.ack("1", "t", { _tag: "Cancelled" }))
      assert.instanceOf(lockLost, LockLostError)
      assert.strictEqual(lockLost.message, new LockLostError({ jobId: "1" }).message)
      assert.instanceOf(yield* Effect.flip(remote.release("2", "t")), JobNotFoundError)
      for (const [error, expected] of [
        [yield* Effect.flip(remote.retry("3")), new JobNotRetryableError({ jobId: "3", state })],
        [yield* Effect.flip(remote.cancel("4")), new JobNotCancellableError({ jobId: "4", state })],
        [yield* Effect.flip(remote.promote("5")), new JobNotPromotableError({ jobId: "5", state })],
        [yield* Effect.flip(remote.counts()), driverFault]
      ] as const) {
        assert.instanceOf(error, expected.constructor as typeof Error)
        assert.deepStrictEqual({ ...error, message: error.message }, { ...expected, message: expected.message })
      }
    })
  )

  it.live("bad arguments are refused in the words of a driver before anything is sent", () =>
    Effect.gen(function* () {
      let asked = 0
      const url = yield* answering((_request, response) => {
        asked++
        response.writeHead(401).end()
      })
      const remote = yield* make({ url })
      const before = asked
      const nan = yield* errorOf(remote.enqueue(request({ a: [Number.NaN] })))
      assert.deepStrictEqual(nan.reason, { _tag: "InvalidArgument", field: "request.payload.a[0]" })
      const nameless = yield* errorOf(remote.pause(""))
      assert.deepStrictEqual(nameless.reason, { _tag: "InvalidArgument", field: "queue" })
      // From a program without types: nothing that validation looks at, but the schema of the payload does.
      const misfit = yield* errorOf(remote.list({ states: ["bogus" as "waiting"] }))
      assert.strictEqual(misfit.reason._tag, "InvalidArgument")
      assert.include(misfit.message, '["options"]["states"][0]')
      assert.strictEqual(asked - before, 0)
    })
  )

  it.live("a thousand callers at once are all answered, each with its own", () =>
    Effect.gen(function* () {
      const server = yield* serve(stubStore({ cancelByDedupe: (_name, key) => Effect.succeed(Number(key) % 3 === 0) }))
      const remote = yield* make({ url: server.url, outageTimeout: 60_000, callTimeout: 60_000 })
      const answers = yield* Effect.forEach(
        Array.from({ length: 1000 }, (_, index) => index),
        (index) => remote.cancelByDedupe("n", String(index)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        answers,
        answers.map((_, index) => index % 3 === 0)
      )
    })
  )
})

/** A store that takes so many calls, and tells how many items each had. */
const taking = (most = Number.POSITIVE_INFINITY) => {
  const sizes: Array<number> = []
  const store = stubStore({
    enqueueMany: (requests) =>
      Effect.suspend(() => {
        if (sizes.length === most) {
          return Effect.fail(
            new JobStoreError({ message: "full", reason: { _tag: "Unavailable", url: undefined, sent: false } })
          )
        }
        sizes.push(requests.length)
        return Effect.succeed(
          requests.map(({ payload }): EnqueueResult => ({ id: `${payload}`.slice(0, 9), duplicate: false }))
        )
      })
  })
  return { sizes, store }
}

describe.each(ways)("enqueueMany over $name", ({ make }) => {
  it.live("of nothing answers nothing", () =>
    Effect.gen(function* () {
      const remote = yield* make({ url: "http://127.0.0.1:1" })
      assert.deepStrictEqual(yield* remote.enqueueMany([]), [])
    })
  )

  it.live("is cut into several calls, whose results are in order", () =>
    Effect.gen(function* () {
      const { sizes, store } = taking()
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url })
      const results = yield* remote.enqueueMany(Array.from({ length: 2_500 }, (_, index) => request(index)))
      assert.deepStrictEqual(sizes, [1000, 1000, 500])
      assert.deepStrictEqual(
        results.map(({ id }) => id),
        Array.from({ length: 2_500 }, (_, index) => `${index}`)
      )
    })
  )

  it.live("that fails in a later call tells how many were enqueued", () =>
    Effect.gen(function* () {
      const { store } = taking(1)
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url })
      const error = yield* errorOf(remote.enqueueMany(Array.from({ length: 1_001 }, () => request())))
      assert.include(error.message, "the first 1000 of 1001 requests were enqueued, then: full")
      assert.isTrue(error.mayHaveHappened)
    })
  )

  it.live("with an item that no message can hold is refused by its size", () =>
    Effect.gen(function* () {
      const { sizes, store } = taking()
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url, limits: wide, maxMessageBytes: 100_000 })
      const error = yield* errorOf(remote.enqueueMany([request("a"), request("b".repeat(100_000)), request("c")]))
      assert.deepInclude(error.reason, { _tag: "LimitExceeded", limit: 100_000 })
      assert.include(error.message, "the first 1 of 3")
      assert.deepStrictEqual(sizes, [1])
    })
  )
})

/** A store that takes so many acks by one call, and remembers how many came. */
const ending = (most = Number.POSITIVE_INFINITY) => {
  const sizes: Array<number> = []
  const store = stubStore({
    ackMany: (acks) =>
      Effect.suspend(() => {
        if (sizes.length === most) {
          return Effect.fail(new JobStoreError({ message: "broken", reason: { _tag: "Defect" } }))
        }
        sizes.push(acks.length)
        return Effect.succeed(
          acks.map(({ id }): AckResult => (id.endsWith("7") ? new LockLostError({ jobId: id }) : acked))
        )
      })
  })
  return { sizes, store }
}

const acks = (length: number, exit: unknown = 1): ReadonlyArray<Ack> =>
  Array.from({ length }, (_, index) => ({ id: `${index}`, token: "t", outcome: { _tag: "Complete", exit } }))

describe.each(ways)("ackMany over $name", ({ make }) => {
  it.live("of nothing answers nothing, and sends nothing", () =>
    Effect.gen(function* () {
      const remote = yield* make({ url: "http://127.0.0.1:1" })
      assert.deepStrictEqual(yield* remote.ackMany([]), [])
    })
  )

  it.live("is cut by the number of acks, whose results are in order and of their classes", () =>
    Effect.gen(function* () {
      const { sizes, store } = ending()
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url })
      const results = yield* remote.ackMany(acks(2_500))
      assert.deepStrictEqual(sizes, [1000, 1000, 500])
      assert.lengthOf(results, 2_500)
      for (const [index, result] of results.entries()) {
        if (index % 10 !== 7) assert.deepStrictEqual(result, acked)
        else assert.isTrue(result instanceof LockLostError && result.jobId === `${index}`)
      }
    })
  )

  it.live("is cut by the bytes of its exits", () =>
    Effect.gen(function* () {
      const { sizes, store } = ending()
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url, maxMessageBytes: 100_000 })
      yield* remote.ackMany(acks(7, "x".repeat(3_000)))
      assert.deepStrictEqual(sizes, [2, 2, 2, 1])
    })
  )

  it.live("that fails in a later call tells how many acks were carried out", () =>
    Effect.gen(function* () {
      const { store } = ending(1)
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url })
      const error = yield* errorOf(remote.ackMany(acks(1_001)))
      assert.include(error.message, "the first 1000 of 1001 acks were carried out, then: broken")
    })
  )

  it.live("answers a refused ack in its place, and sends the others", () =>
    Effect.gen(function* () {
      const { sizes, store } = ending()
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url })
      const [first, bad, last] = yield* remote.ackMany([...acks(1), ...acks(1, Number.NaN), ...acks(1)])
      assert.deepStrictEqual([first, last], [acked, acked])
      assert(bad instanceof JobStoreError)
      assert.deepStrictEqual(bad.reason, { _tag: "InvalidArgument", field: "outcome.exit" })
      assert.deepStrictEqual(sizes, [2])
    })
  )
})
