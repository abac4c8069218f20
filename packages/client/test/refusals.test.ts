/** What a server or a proxy answers instead of a result, as the errors of every operation. Over a socket and over HTTP alike. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { errorOf, ways } from "./support/jobwire.ts"
import { accepting, answering, answeringWith, freePort, refusing } from "./support/misbehaving.ts"

const token = "secret-token-of-the-test"

// Long enough for an answer on a busy machine to come first.
const shortOutage = 700

describe.each(ways)("over $name", ({ make, transport }) => {
  const refusalBy = Effect.fnUntraced(function* (url: string, outageTimeout = 600_000) {
    const store = yield* make({ url, token, outageTimeout })
    const error = yield* errorOf(store.counts())
    assert.notInclude(error.message, token)
    assert.include(error.message, `${url}/v1/rpc`)
    return error
  })

  it.live("401 is Unauthorized at once, with the server's words", () =>
    Effect.gen(function* () {
      const url = yield* refusing(401, "The server does not know this token.")
      const error = yield* refusalBy(url)
      assert.deepStrictEqual(error.reason, { _tag: "Unauthorized" })
      assert.include(error.message, "The server does not know this token")
      assert.isFalse(error.isRetryable)
      assert.isFalse(error.mayHaveHappened)
    })
  )

  it.live("403 is Forbidden at once", () =>
    Effect.gen(function* () {
      const error = yield* refusalBy(yield* refusing(403, "Not this store."))
      assert.strictEqual(error.reason._tag, "Forbidden")
      assert.include(error.message, "Not this store")
      assert.isFalse(error.isRetryable)
    })
  )

  it.live("503 of a server that stops is Unavailable and says that nothing was done", () =>
    Effect.gen(function* () {
      const url = yield* refusing(503, "The server is stopping.")
      const error = yield* refusalBy(url, shortOutage)
      assert.deepStrictEqual(error.reason, { _tag: "Unavailable", url: `${url}/v1/rpc`, sent: false })
      assert.include(error.message, "The server is stopping")
      assert.isTrue(error.isRetryable)
    })
  )

  it.live("a proxy's page of HTML is Unavailable, and its text stays out of the message", () =>
    Effect.gen(function* () {
      for (const status of [500, 502, 503, 504]) {
        const url = yield* answeringWith(status, "<html>Bad Gateway</html>", { "content-type": "text/html" })
        const error = yield* refusalBy(url, shortOutage)
        // Over a socket no call has been sent yet; a POST may have got through before the proxy gave up.
        assert.deepStrictEqual(error.reason, { _tag: "Unavailable", url: `${url}/v1/rpc`, sent: transport === "http" })
        assert.include(error.message, String(status))
        assert.notInclude(error.message, "html")
      }
    })
  )

  it.live("429 is Unavailable and says that nothing was done", () =>
    Effect.gen(function* () {
      const error = yield* refusalBy(yield* answeringWith(429, "slow down"), shortOutage)
      assert.deepInclude(error.reason, { _tag: "Unavailable", sent: false })
    })
  )

  it.live("any other status is a Defect that asks for the right URL", () =>
    Effect.gen(function* () {
      for (const status of [204, 301, 404, 418]) {
        const url = yield* answeringWith(status, "", { location: "http://127.0.0.1:1/" })
        const error = yield* refusalBy(url)
        assert.deepStrictEqual(error.reason, { _tag: "Defect" })
        assert.isFalse(error.isRetryable)
        if (status !== 204) assert.include(error.message, `answered ${status}`)
      }
    })
  )

  it.live("nobody at the port is Unavailable after the outage time, and nothing was done", () =>
    Effect.gen(function* () {
      const url = `http://127.0.0.1:${yield* freePort}`
      const started = performance.now()
      const error = yield* refusalBy(url, shortOutage)
      assert.isAtLeast(performance.now() - started, shortOutage - 1)
      assert.deepStrictEqual(error.reason, { _tag: "Unavailable", url: `${url}/v1/rpc`, sent: false })
      assert.include(error.message, "ECONNREFUSED")
    })
  )

  it.live("a host that does not exist is Unavailable, and nothing was done", () =>
    Effect.gen(function* () {
      const error = yield* refusalBy("http://no-such-host.invalid", shortOutage)
      assert.deepInclude(error.reason, { _tag: "Unavailable", sent: false })
      assert.include(error.message, "no-such-host.invalid")
    })
  )

  it.live("the credentials travel where they should, and only there", () =>
    Effect.gen(function* () {
      const seen: Array<Readonly<Record<string, unknown>>> = []
      const url = yield* answering((request, response) => {
        seen.push({ method: request.method, url: request.url, ...request.headers })
        response.writeHead(401).end()
      })
      const store = yield* make({ url: `${url}/base/`, token, store: "mail room" })
      yield* errorOf(store.counts())
      for (const request of seen) assert.strictEqual(request.url, "/base/v1/rpc?store=mail%20room")
      const last = seen.at(-1)
      assert.strictEqual(last?.authorization, `Bearer ${token}`)
      if (transport === "websocket") {
        const [first] = seen
        assert.notProperty(first, "authorization")
        assert.match(String(first?.["sec-websocket-protocol"]), /^jobwire\.v1, ?bearer\.[\w-]+$/)
      }
    })
  )
})

describe("over a socket", () => {
  it.live.each(ways.filter(({ transport }) => transport === "websocket"))(
    "$name: one refusal holds for the calls of a moment, and the next call asks anew",
    ({ make }) =>
      Effect.gen(function* () {
        let gets = 0
        let allowed = false
        const port = yield* freePort
        const refuser = answering((request, response) => {
          if (request.headers.upgrade === undefined) gets++
          response.writeHead(allowed ? 426 : 401).end()
        }, port)
        const store = yield* make({ url: `http://127.0.0.1:${port}`, token })
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* refuser
            const errors = yield* Effect.all(
              Array.from({ length: 50 }, () => errorOf(store.counts())),
              { concurrency: "unbounded" }
            )
            for (const error of errors) assert.strictEqual(error.reason._tag, "Unauthorized")
            assert.strictEqual(gets, 1)
          })
        )
        allowed = true
        yield* accepting((socket) => {
          socket.on("message", (data) => {
            for (const { id, tag } of String(data)
              .trim()
              .split("\n")
              .map((line) => JSON.parse(line))) {
              if (tag === undefined) continue
              const value = {
                waiting: 7,
                delayed: 0,
                active: 0,
                "waiting-children": 0,
                completed: 0,
                failed: 0,
                cancelled: 0
              }
              socket.send(`${JSON.stringify({ _tag: "Exit", requestId: id, exit: { _tag: "Success", value } })}\n`)
            }
          })
        }, port)
        const counts = yield* Effect.retry(store.counts(), { while: ({ reason }) => reason._tag === "Unauthorized" })
        assert.strictEqual(counts.waiting, 7)
      })
  )
})
