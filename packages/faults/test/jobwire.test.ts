/** A Jobwire server and its remote client with a proxy between them. */
import { assert, describe, it } from "@effect/vitest"
import { RemoteJobStore } from "@jobwire/client/node"
import { EnqueueRequest, JobStore, JobStoreError } from "@jobwire/protocol"
import { JobStores, JobStoreServer, MemoryJobStore } from "@jobwire/server"
import { Context, Effect, Fiber, Layer } from "effect"
import { HttpServer } from "effect/http"
import { Faults } from "../src/index.ts"

const transports = ["websocket", "http"] as const

/** Servers on one store, a proxy before them in turn, and the store as it is seen through it and beside it. */
const through = Effect.fnUntraced(function* (
  transport: (typeof transports)[number],
  options: Partial<Faults.Options>,
  {
    callTimeout = "30 seconds",
    servers = 1
  }: { readonly callTimeout?: "2 seconds" | "30 seconds"; readonly servers?: number } = {}
) {
  const direct = Context.get(yield* Layer.build(MemoryJobStore.layer), JobStore.JobStore)
  const layer = JobStoreServer.layerHttp({ port: 0, grace: "300 millis" }).pipe(
    Layer.provide(JobStores.layerSingle),
    Layer.provide(Layer.succeed(JobStore.JobStore, direct))
  )
  const upstreams = yield* Effect.forEach(
    Array.from({ length: servers }),
    Effect.fnUntraced(function* () {
      const { address } = Context.get(yield* Layer.build(Layer.fresh(layer)), HttpServer.HttpServer)
      return `http://127.0.0.1:${"port" in address ? address.port : 0}`
    })
  )
  const proxy = yield* Faults.start({ upstreams, rate: 0, ...options })
  const store = yield* RemoteJobStore.make({ url: proxy.url, transport, callTimeout, retryTimeout: 0 })
  // From now on, over a connection that is there.
  yield* store.counts()
  return { store, direct, proxy }
})

const request = (fields: Partial<typeof EnqueueRequest.Type> = {}) =>
  EnqueueRequest.make({ name: "job", queue: "q", ...fields })

// So long a call waits for an answer that never comes.
const impatient = { callTimeout: "2 seconds" } as const

const options = { queue: "q", names: ["job"], lockDurationMs: 30_000 }

describe.each(transports)("over %s", (transport) => {
  it.live("work goes on as without a proxy, on three servers in turn", () =>
    Effect.gen(function* () {
      const { direct, proxy, store } = yield* through(transport, {}, { servers: 3 })
      const wait = yield* Effect.forkChild(
        Effect.flatMap(store.claim({ ...options, token: "early" }), (claim) =>
          claim._tag === "Empty" ? store.awaitWake(["q"], claim.wakeToken) : Effect.die(claim)
        ),
        { startImmediately: true }
      )
      const enqueued = yield* Effect.forEach(
        Array.from({ length: 50 }),
        (_, at) => store.enqueue(request({ id: `job-${at}` })),
        { concurrency: 8 }
      )
      assert.lengthOf(enqueued, 50)
      yield* Fiber.join(wait)
      const acked = yield* Effect.forEach(
        enqueued,
        Effect.fnUntraced(function* (_, at) {
          const token = `token-${at}`
          const claim = yield* store.claim({ ...options, token })
          if (claim._tag === "Empty") return yield* Effect.die("there is no job")
          yield* store.ack(claim.job.id, token, { _tag: "Complete", exit: at })
          return claim.job.id
        }),
        { concurrency: 8 }
      )
      assert.strictEqual(new Set(acked).size, 50)
      assert.deepInclude(yield* direct.counts("q"), { waiting: 0, active: 0, completed: 50 })
      assert.strictEqual((yield* proxy.counts).troubles, 0)
    })
  )

  for (const silentShare of [0, 1]) {
    it.live(
      `an answer that is lost ${silentShare === 1 ? "without a sign" : "with its connection"} may have happened, and has`,
      () =>
        Effect.gen(function* () {
          const { direct, proxy, store } = yield* through(transport, { kinds: ["drop-answer"], silentShare }, impatient)
          yield* proxy.change({ rate: 1 })
          const error = yield* Effect.flip(store.enqueue(request({ id: "one" })))
          assert.instanceOf(error, JobStoreError)
          assert.deepInclude(error, { mayHaveHappened: true, isRetryable: true })
          yield* proxy.change({ rate: 0 })
          assert.deepStrictEqual(yield* store.enqueue(request({ id: "one" })), { id: "one", duplicate: true })
          assert.deepInclude(yield* direct.counts("q"), { waiting: 1 })
        })
    )

    it.live(
      `a request that is lost ${silentShare === 1 ? "without a sign" : "with its connection"} has not happened`,
      () =>
        Effect.gen(function* () {
          const { direct, proxy, store } = yield* through(
            transport,
            { kinds: ["drop-request"], silentShare },
            impatient
          )
          yield* proxy.change({ rate: 1 })
          const error = yield* Effect.flip(store.enqueue(request({ id: "one" })))
          assert.deepInclude(error, { mayHaveHappened: true, isRetryable: true })
          yield* proxy.change({ rate: 0 })
          assert.deepInclude(yield* direct.counts("q"), { waiting: 0 })
          assert.deepStrictEqual(yield* store.enqueue(request({ id: "one" })), { id: "one", duplicate: false })
        })
    )
  }

  it.live("a job whose enqueue arrives twice is there once, if it has an id, and twice if it has none", () =>
    Effect.gen(function* () {
      const { direct, proxy, store } = yield* through(transport, { kinds: ["repeat"], apartShare: 1 })
      yield* proxy.change({ rate: 1 })
      yield* store.enqueue(request({ id: "one" }))
      yield* store.enqueue(request())
      yield* proxy.calm
      const { troubles } = yield* proxy.counts
      assert.strictEqual(troubles, 0)
      const { waiting } = yield* direct.counts("q")
      assert.include([2, 3], waiting)
    })
  )

  it.live("a late repeat arrives when all is over", () =>
    Effect.gen(function* () {
      const { direct, proxy, store } = yield* through(transport, { kinds: ["late-repeat"], apartShare: 1, lateMs: 100 })
      yield* proxy.change({ rate: 1 })
      yield* store.enqueue(request({ id: "one" }))
      yield* proxy.calm
      assert.isAtLeast((yield* proxy.counts).hits["late-repeat"], 1)
      assert.deepInclude(yield* direct.counts("q"), { waiting: 1 })
    })
  )
})
