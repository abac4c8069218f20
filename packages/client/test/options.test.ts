/** Options that are wrong fail the layer; those from the configuration are the same. */
import { assert, describe, it } from "@effect/vitest"
import { JobStore, Limits } from "@jobwire/protocol"
import { JobStoreServer, MemoryJobStore } from "@jobwire/server"
import { Config, ConfigProvider, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { RemoteJobStore } from "../src/index.ts"
import { type Options, parseOptions } from "../src/Options.ts"
import { errorOf, serve } from "./support/jobwire.ts"

const url = "http://127.0.0.1:1"

describe("options", () => {
  it.effect("have the documented values unless given", () =>
    Effect.gen(function* () {
      const settings = yield* parseOptions({ url })
      assert.deepInclude(settings, {
        transport: "websocket",
        callTimeoutMs: 30_000,
        outageTimeoutMs: 30_000,
        pingIntervalMs: 5_000,
        waitSeconds: 25,
        maxMessageBytes: 16 * 1024 * 1024 - 64 * 1024,
        gatherAcks: true
      })
      assert.strictEqual(settings.limits, Limits.defaults)
    })
  )

  it.effect("take the limits of the context, and their own before them", () =>
    Effect.gen(function* () {
      const small = { ...Limits.defaults, payloadBytes: 10 }
      const smaller = { ...Limits.defaults, payloadBytes: 5 }
      const read = (options: Partial<Options>) =>
        Effect.provideService(parseOptions({ url, ...options }), Limits.CurrentLimits, small)
      assert.strictEqual((yield* read({})).limits, small)
      assert.strictEqual((yield* read({ limits: smaller })).limits, smaller)
    })
  )

  it.effect("that are wrong fail the layer by an error that names the option", () =>
    Effect.gen(function* () {
      const wrong: Readonly<Record<string, Partial<Options>>> = {
        url: { url: "nowhere" },
        token: { token: "" },
        store: { store: "" },
        callTimeout: { callTimeout: 0 },
        outageTimeout: { outageTimeout: "-1 second" },
        pingInterval: { pingInterval: Number.NaN },
        waitSeconds: { waitSeconds: 0.5 },
        maxMessageBytes: { maxMessageBytes: -1 },
        // From a program without types.
        gatherAcks: { gatherAcks: JSON.parse('"no"') },
        transport: { transport: "carrier pigeon" as "http" }
      }
      for (const [field, options] of Object.entries(wrong)) {
        const error = yield* errorOf(Effect.scoped(Layer.build(RemoteJobStore.layer({ url, ...options }))))
        assert.deepStrictEqual(error.reason, { _tag: "InvalidArgument", field })
        assert.include(error.message, field)
      }
    })
  )
})

describe("layerConfig", () => {
  const fromConfig = RemoteJobStore.layerConfig({
    url: Config.String("JOBS_URL"),
    token: Config.Redacted("JOBS_TOKEN"),
    store: Config.String("JOBS_STORE").pipe(Config.withDefault(undefined)),
    callTimeout: Config.Duration("JOBS_TIMEOUT")
  })

  it.live("reads every option from the configuration", () =>
    Effect.gen(function* () {
      const store = yield* Effect.provide(JobStore.JobStore, MemoryJobStore.layer)
      const server = yield* serve(store, { tokens: [{ token: Redacted.make("t0ken-of-the-test"), scopes: ["read"] }] })
      const env = { JOBS_URL: server.url, JOBS_TOKEN: "t0ken-of-the-test", JOBS_TIMEOUT: "5 seconds" }
      const counts = yield* Effect.flatMap(JobStore.JobStore, (remote) => remote.counts()).pipe(
        Effect.provide(fromConfig),
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(env))
      )
      assert.strictEqual(counts.waiting, 0)
    })
  )

  it.effect("fails by the configuration's error when one is missing", () =>
    Effect.gen(function* () {
      const error = yield* Layer.build(fromConfig).pipe(
        Effect.scoped,
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({})),
        Effect.flip
      )
      assert.strictEqual(error._tag, "ConfigError")
    })
  )
})

describe("layerFor", () => {
  it.live("gives several stores of one server to one application", () =>
    Effect.gen(function* () {
      const mail = JobStore.named("mail")
      const video = JobStore.named("video")
      const context = yield* Layer.build(
        JobStoreServer.layerHttp({ port: 0 }).pipe(Layer.provide(MemoryJobStore.layerStores()))
      )
      const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
      const where = `http://127.0.0.1:${"port" in address ? address.port : 0}`
      yield* Effect.gen(function* () {
        const mails = yield* mail
        const videos = yield* video
        yield* mails.pause("q")
        assert.deepStrictEqual(yield* mails.pausedQueues(), ["q"])
        assert.deepStrictEqual(yield* videos.pausedQueues(), [])
      }).pipe(
        Effect.provide(
          Layer.merge(
            RemoteJobStore.layerFor(mail, { url: where, store: "mail" }),
            RemoteJobStore.layerFor(video, { url: where, store: "video" })
          )
        )
      )
    })
  )
})
