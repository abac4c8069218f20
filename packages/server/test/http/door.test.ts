/** Who comes in, and what the others are told. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Exit, Layer, Logger, Redacted } from "effect"
import { request } from "node:http"
import { type HttpOptions, layerHttp } from "../../src/JobStoreServer.ts"
import { JobStores, type StoreId } from "../../src/JobStores.ts"
import { open } from "./support/peer.ts"
import { call, errorOf, message, post, problemOf, type RunningServer, start, token } from "./support/server.ts"
import { make } from "./support/stub-store.ts"

const secret = "correct-horse-battery-staple"
const tokens = [token(secret, ["produce", "read"], "acme"), token("reader", ["read"], "other")]
const bearer = (value: string) => ({ authorization: `Bearer ${value}` })
const subprotocols = (value: string) => ["jobwire.v1", `bearer.${Buffer.from(value).toString("base64url")}`]

/** A store whose list of paused queues tells whose store it is. */
const telling = (id: StoreId) => make({ pausedQueues: () => Effect.succeed([`${id.tenant}/${id.store}`]) }).service

/** A raw request, whose `Host` and `Origin` may be anything. */
const raw = (server: RunningServer, options: { method?: string; path?: string; headers?: Record<string, string> }) =>
  Effect.callback<{ status: number; headers: Record<string, unknown>; body: string }>((resume) => {
    const { headers = {}, method = "POST", path = "/v1/rpc" } = options
    const call = request({ host: "127.0.0.1", port: server.port, method, path, headers }, (response) => {
      let body = ""
      response.on("data", (chunk) => (body += String(chunk)))
      response.on("end", () =>
        resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, body }))
      )
    })
    call.end(method === "POST" ? JSON.stringify(message("pausedQueues")) : undefined)
  })

describe("a server with tokens", () => {
  it.live("refuses none, blank, unknown and malformed credentials before it reads the body", () =>
    Effect.gen(function* () {
      const server = yield* start(telling, { tokens })
      for (const headers of [
        {},
        bearer("wrong"),
        bearer(`${secret}x`),
        bearer(""),
        bearer("  "),
        { authorization: "" },
        { authorization: secret },
        { authorization: `Basic ${secret}` }
      ]) {
        // The body is no JSON, so an answer other than 401 would show that it was read.
        const problem = yield* problemOf(yield* post(server, "{", headers))
        assert.strictEqual(problem.status, 401, JSON.stringify(headers))
        assert.strictEqual(problem.type, "application/problem+json")
        assert.notInclude(JSON.stringify(problem.body), "wrong")
        assert.notInclude(JSON.stringify(problem.body), secret)
      }
      const response = yield* post(server, "{")
      assert.include(response.headers.get("www-authenticate") ?? "", "Bearer")
    })
  )

  it.live("gives each token its tenant and the store of the query", () =>
    Effect.gen(function* () {
      const server = yield* start(telling, { tokens })
      const value = (headers: Record<string, string>, query = "") =>
        Effect.map(call(server, "pausedQueues", {}, headers, query), (exit) => exit._tag === "Success" && exit.value)
      assert.deepStrictEqual(yield* value(bearer(secret)), ["acme/default"])
      assert.deepStrictEqual(yield* value(bearer(secret), "?store=mail"), ["acme/mail"])
      assert.deepStrictEqual(yield* value({ authorization: "bearer  reader" }, "?store=a%20b"), ["other/a b"])
      const exit = yield* call(server, "pause", { queue: "q" }, bearer(secret))
      assert.deepInclude(errorOf(exit), { reason: { _tag: "Forbidden", scope: "admin" } })
    })
  )

  it.live("takes them on a socket by header and by subprotocol, and answers with its own subprotocol", () =>
    Effect.gen(function* () {
      const server = yield* start(telling, { tokens })
      for (const options of [{ headers: bearer(secret) }, { protocols: subprotocols(secret) }]) {
        const peer = yield* open(server, { ...options, query: "?store=s" })
        peer.send(message("pausedQueues"))
        assert.deepStrictEqual(yield* peer.exitOf(1), { _tag: "Success", value: ["acme/s"] })
        assert.strictEqual(peer.socket.protocol, "protocols" in options ? "jobwire.v1" : "")
      }
      const backwards = yield* open(server, { protocols: subprotocols(secret).toReversed() })
      assert.strictEqual(backwards.socket.protocol, "jobwire.v1")
      for (const options of [
        {},
        { protocols: ["jobwire.v1"] },
        { protocols: subprotocols("") },
        { protocols: subprotocols(" ") },
        { protocols: subprotocols("wrong") },
        { headers: bearer("wrong") }
      ]) {
        assert.strictEqual(yield* Effect.flip(open(server, options)), 401, JSON.stringify(options))
      }
    })
  )

  it.live("trusts nothing inside a message", () =>
    Effect.gen(function* () {
      const server = yield* start(telling, { tokens })
      const spoof = {
        ...message("pausedQueues"),
        headers: [
          ["authorization", `Bearer ${secret}`],
          ["host", "elsewhere"]
        ]
      }
      const response = yield* post(server, spoof, bearer("reader"))
      assert.include(yield* Effect.promise(() => response.text()), "other/default")
      assert.strictEqual((yield* post(server, spoof)).status, 401)
    })
  )

  it.live("serves pages of other origins, which cannot know a token", () =>
    Effect.gen(function* () {
      const server = yield* start(telling, { tokens })
      const headers = { ...bearer(secret), "content-type": "application/json", origin: "https://pages.example" }
      assert.strictEqual((yield* raw(server, { headers: { ...headers, host: "jobs.example" } })).status, 200)
    })
  )

  it.live("says nothing of a token in its log", () =>
    Effect.gen(function* () {
      const lines: Array<unknown> = []
      const log = Logger.layer([Logger.make((entry) => void lines.push(entry.message, String(entry.cause)))])
      const faulty = make({ getJob: () => Effect.die(new Error("fault")) }).service
      yield* Effect.gen(function* () {
        const server = yield* start(faulty, { tokens })
        yield* call(server, "getJob", { id: "payload-7" }, bearer(secret))
        const peer = yield* open(server, { protocols: subprotocols(secret) })
        peer.send(message("getJob", { id: "payload-7" }))
        yield* peer.exitOf(1)
      }).pipe(Effect.scoped, Effect.provide(log))
      const text = JSON.stringify(lines)
      assert.include(text, "a fault in getJob")
      assert.notInclude(text, secret)
      assert.notInclude(text, "payload-7")
      assert.notInclude(text, Buffer.from(secret).toString("base64url"))
    })
  )
})

describe("a server without tokens", () => {
  it.live("lets callers of this machine do everything, with a token or without", () =>
    Effect.gen(function* () {
      const server = yield* start(make({ pause: () => Effect.void }).service)
      assert.strictEqual((yield* call(server, "pause", { queue: "q" }))._tag, "Success")
      assert.strictEqual((yield* call(server, "pause", { queue: "q" }, bearer("some")))._tag, "Success")
      assert.strictEqual((yield* post(server, message("pausedQueues"), bearer(" "))).status, 401)
    })
  )

  it.live("refuses what a page of another origin could send", () =>
    Effect.gen(function* () {
      const server = yield* start(telling)
      const json = { "content-type": "application/json" }
      const own = `127.0.0.1:${server.port}`
      const cases: ReadonlyArray<readonly [status: number, headers: Record<string, string>]> = [
        [200, json],
        [200, { ...json, host: `localhost:${server.port}` }],
        [200, { ...json, host: "[::1]" }],
        [200, { ...json, host: own, origin: `http://${own}` }],
        [403, { ...json, host: own, origin: "http://pages.example" }],
        [403, { ...json, host: own, origin: "null" }],
        [403, { ...json, host: own, origin: "http://127.0.0.1:3000" }],
        [403, { ...json, host: "rebound.example" }],
        [403, { ...json, host: "rebound.example", origin: "http://rebound.example" }],
        [403, { ...json, host: "127.0.0.1.rebound.example" }],
        [415, { host: own, "content-type": "text/plain" }],
        [415, { host: own, "content-type": "application/x-www-form-urlencoded" }],
        [415, { host: own }]
      ]
      for (const [status, headers] of cases) {
        assert.strictEqual((yield* raw(server, { headers })).status, status, JSON.stringify(headers))
      }
      assert.strictEqual(yield* Effect.flip(open(server, { origin: "http://pages.example" })), 403)
      assert.strictEqual(yield* Effect.flip(open(server, { headers: { host: "rebound.example" } })), 403)
      yield* open(server, { origin: `http://${own}` })
    })
  )

  it.effect("does not listen where others could reach it, and says what to do", () =>
    Effect.gen(function* () {
      for (const host of ["0.0.0.0", "::", "192.168.1.4", "example.org", ""]) {
        const error = yield* Effect.flip(build({ host, port: 0 }))
        assert.strictEqual(error._tag, "UnsafeBindError", host)
        assert.include(error.message, "token")
        assert.include(error.message, JSON.stringify(host))
      }
      for (const host of ["localhost", "127.0.0.1", "127.0.0.9"]) yield* build({ host, port: 0 })
      yield* build({ host: "0.0.0.0", port: 0, tokens })
    })
  )
})

const build = (options: HttpOptions) =>
  Effect.scoped(
    Layer.build(
      layerHttp(options).pipe(Layer.provide(Layer.succeed(JobStores, { get: () => Effect.succeed(make().service) })))
    )
  )

const entry = (value: string) => ({ token: Redacted.make(value), name: "ci" })

describe("the start", () => {
  it.effect("fails by a typed error when a token is no good, which it does not repeat", () =>
    Effect.gen(function* () {
      const cases = [
        [entry("")],
        [entry("   ")],
        [entry("with space")],
        [entry("ünicode")],
        [entry("x".repeat(1025))],
        [entry("twice"), entry("twice")],
        [{ ...entry("ok"), scopes: [] }],
        [{ ...entry("ok"), scopes: ["root" as "admin"] }],
        [{ ...entry("ok"), tenant: "" }]
      ]
      for (const tokens of cases) {
        const error = yield* Effect.flip(build({ port: 0, tokens }))
        assert.strictEqual(error._tag, "TokenEntryError")
        assert.include(error.message, '"ci"')
        for (const { token } of tokens) {
          if (Redacted.value(token).trim().length > 2) assert.notInclude(error.message, Redacted.value(token))
        }
      }
    })
  )

  it.live("fails by a typed error when the port is taken", () =>
    Effect.gen(function* () {
      const server = yield* start(make().service)
      const exit: Exit.Exit<unknown, unknown> = yield* Effect.exit(build({ port: server.port }))
      assert.include(JSON.stringify(exit), "ListenError")
      assert.include(JSON.stringify(exit), "in use")
    })
  )
})

describe("the paths", () => {
  it.live("are the calls with and without a slash, and the health checks", () =>
    Effect.gen(function* () {
      const server = yield* start(telling, { tokens })
      const get = (path: string, headers = {}) => raw(server, { method: "GET", path, headers })
      const headers = bearer(secret)
      const upgrade = yield* get("/v1/rpc", headers)
      assert.strictEqual(upgrade.status, 426)
      assert.strictEqual(upgrade.headers.upgrade, "websocket")
      assert.strictEqual((yield* get("/v1/rpc/", headers)).status, 426)
      assert.strictEqual((yield* get("/v1/rpc")).status, 401)
      assert.strictEqual((yield* get("/elsewhere?token=x")).status, 404)
      const patch = yield* raw(server, { method: "PATCH", headers })
      assert.strictEqual(patch.status, 405)
      assert.strictEqual(patch.headers.allow, "GET, POST")
      const json = { ...headers, "content-type": "application/json; charset=utf-8" }
      assert.strictEqual((yield* raw(server, { path: "/v1/rpc/?store=x", headers: json })).status, 200)
      assert.strictEqual((yield* get("/livez")).status, 200)
      assert.strictEqual((yield* get("/readyz")).status, 200)
    })
  )

  it.live("take the name of one store, of bounded length, without control characters", () =>
    Effect.gen(function* () {
      const server = yield* start(telling)
      const status = (query: string) => Effect.map(post(server, message("pausedQueues"), {}, query), (r) => r.status)
      assert.strictEqual(yield* status("?store=%E2%82%AC"), 200)
      assert.strictEqual(yield* status(`?store=${"x".repeat(256)}`), 200)
      assert.strictEqual(yield* status(`?store=${"x".repeat(257)}`), 400)
      assert.strictEqual(yield* status("?store="), 400)
      assert.strictEqual(yield* status("?store=a&store=b"), 400)
      assert.strictEqual(yield* status("?store=a%0Ab"), 400)
      assert.strictEqual(yield* status("?store=a%00b"), 400)
      assert.strictEqual(yield* status(`?store=${"x".repeat(20_000)}`), 431)
    })
  )
})
