/** A connection that is dead without a sign: both ends notice, each by itself and in bounded time. */
import { assert, describe, it } from "@effect/vitest"
import { RemoteJobStore } from "@jobwire/client/node"
import { JobStore } from "@jobwire/protocol"
import { JobStores, JobStoreServer } from "@jobwire/server"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { HttpServer } from "effect/http"
import { LongestSilence } from "../../server/src/http/Silence.ts"
import { stubStore } from "../../../test/support/stub-store.ts"
import { Faults } from "../src/index.ts"

// Far longer than any test: whoever sees the end of it has not noticed.
const halfOpenMs = 2 ** 31 - 1

// What a busy machine may add to any bound.
const slackMs = 5_000

const counted = { waiting: 1, delayed: 0, active: 0, "waiting-children": 0, completed: 0, failed: 0, cancelled: 0 }

/** A server whose waits never end by themselves, and a proxy before it that breaks nothing yet. */
const served = Effect.gen(function* () {
  const parked = yield* Deferred.make<void>()
  const freed = yield* Deferred.make<void>()
  const store = stubStore({
    counts: () => Effect.succeed(counted),
    awaitWake: () =>
      Effect.andThen(Deferred.succeed(parked, undefined), Effect.never).pipe(
        Effect.onInterrupt(() => Deferred.succeed(freed, undefined))
      )
  })
  const layer = JobStoreServer.layerHttp({ port: 0, grace: "100 millis" }).pipe(
    Layer.provide(JobStores.layerSingle),
    Layer.provide(Layer.succeed(JobStore.JobStore, store)),
    Layer.provide(Layer.succeed(LongestSilence, "600 millis"))
  )
  const { address } = Context.get(yield* Layer.build(layer), HttpServer.HttpServer)
  const upstreams = `http://127.0.0.1:${"port" in address ? address.port : 0}`
  const proxy = yield* Faults.start({ upstreams, seed: 1, rate: 0, kinds: ["half-open"], halfOpenMs })
  return { proxy, parked: Deferred.await(parked), freed: Deferred.await(freed) }
})

/** Runs an effect whose message makes its connection half-open, and no other one. */
const intoSilence = Effect.fnUntraced(function* <A, E>(
  proxy: Effect.Success<typeof served>["proxy"],
  call: Effect.Effect<A, E>
) {
  yield* proxy.change({ rate: 1 })
  const fiber = yield* Effect.forkChild(call, { startImmediately: true })
  yield* Effect.repeat(proxy.counts, { until: ({ hits }) => hits["half-open"] > 0 })
  yield* proxy.change({ rate: 0 })
  return fiber
})

describe("a half-open connection", () => {
  it.live("is noticed by a client on a socket within three intervals of its pings; its call goes by a new one", () =>
    Effect.gen(function* () {
      const { proxy } = yield* served
      const store = yield* RemoteJobStore.make({ url: proxy.url, pingInterval: "100 millis", callTimeout: "5 minutes" })
      yield* store.counts()
      const began = performance.now()
      const call = yield* intoSilence(proxy, store.counts())
      assert.deepStrictEqual(yield* Fiber.join(call), counted)
      assert.isBelow(performance.now() - began, 300 + slackMs)
    })
  )

  it.live("is noticed by a client over HTTP when its call has no answer in time; it is made again by a new one", () =>
    Effect.gen(function* () {
      const { proxy } = yield* served
      const store = yield* RemoteJobStore.make({ url: proxy.url, transport: "http", callTimeout: "500 millis" })
      const began = performance.now()
      const call = yield* intoSilence(proxy, store.counts())
      assert.deepStrictEqual(yield* Fiber.join(call), counted)
      assert.isBelow(performance.now() - began, 500 + slackMs)
    })
  )

  it.live("is noticed by the server when its peer has been silent for too long: who waited there is let go", () =>
    Effect.gen(function* () {
      const { freed, parked, proxy } = yield* served
      // This client notices nothing itself.
      const store = yield* RemoteJobStore.make({ url: proxy.url, pingInterval: "1 hour" })
      yield* Effect.forkChild(store.awaitWake(["q"], "w"), { startImmediately: true })
      yield* parked
      const began = performance.now()
      yield* intoSilence(proxy, store.counts())
      yield* freed
      assert.isBelow(performance.now() - began, 700 + slackMs)
    })
  )
})
