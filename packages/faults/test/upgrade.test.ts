/** WebSockets that are asked for: opened as if there were no proxy, refused, or hit. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { createServer } from "node:http"
import { Faults } from "../src/index.ts"
import { connect, open } from "./support/clients.ts"
import { only, seedFor } from "./support/proxies.ts"
import * as Servers from "./support/servers.ts"

/** An upgrade is the second thing that comes, behind its connection. */
const firstUpgrade = 2

describe("a WebSocket that is not hit", () => {
  it.live("opens by the subprotocol that the server chose, and without extensions", () =>
    Effect.gen(function* () {
      const server = yield* Servers.webSocket()
      const proxy = yield* Faults.start({ upstreams: server.url, rate: 0 })
      const peer = yield* connect(`${proxy.url}/any/path?and=query`, ["one", "two"], { perMessageDeflate: true })
      assert.deepStrictEqual(yield* peer.seen, { _tag: "Open", protocol: "one" })
      assert.deepStrictEqual(yield* server.seen, { _tag: "Open", connection: 1, protocol: "one", extensions: "" })
    })
  )

  it.live("carries texts, bytes, fragments, pings and closes as they are", () =>
    Effect.gen(function* () {
      const server = yield* Servers.webSocket()
      const proxy = yield* Faults.start({ upstreams: server.url, rate: 0 })
      const peer = yield* open(proxy.url)
      yield* server.seen
      const sizes = [0, 1, 125, 126, 65_535, 65_536, 3_000_000]
      for (const size of sizes) {
        const text = "x".repeat(size)
        peer.socket.send(size % 2 === 0 ? text : Buffer.from(text))
        assert.deepStrictEqual(yield* server.seen, { _tag: "Message", connection: 1, text })
        assert.deepStrictEqual(yield* peer.seen, { _tag: "Message", text: `re: ${text}` })
      }
      peer.socket.send("frag", { fin: false })
      peer.socket.ping("between")
      peer.socket.send("ment", { fin: true })
      assert.deepStrictEqual(yield* server.seen, { _tag: "Ping", connection: 1, text: "between" })
      assert.deepStrictEqual(yield* server.seen, { _tag: "Message", connection: 1, text: "fragment" })
      assert.deepStrictEqual(yield* peer.seen, { _tag: "Pong", text: "between" })
      assert.deepStrictEqual(yield* peer.seen, { _tag: "Message", text: "re: fragment" })
      peer.socket.close(4001, "enough")
      assert.deepStrictEqual(yield* server.seen, { _tag: "Close", connection: 1, code: 4001, reason: "enough" })
      assert.deepStrictEqual(yield* peer.seen, { _tag: "Close", code: 4001 })
      const { seen } = yield* proxy.counts
      // The fragments are one message.
      assert.deepInclude(seen, { upgrade: 1, "to-server": sizes.length + 1, "to-client": sizes.length + 1 })
    })
  )

  it.live("is missed by each end when the other goes away", () =>
    Effect.gen(function* () {
      const server = yield* Servers.webSocket()
      const proxy = yield* Faults.start({ upstreams: server.url, rate: 0 })
      const [one, two] = [yield* open(proxy.url), yield* open(proxy.url)]
      yield* server.seen
      yield* server.seen
      one.socket.terminate()
      assert.deepInclude(yield* server.seen, { _tag: "Close", connection: 1, code: 1006 })
      server.sockets()[0]?.terminate()
      assert.deepStrictEqual(yield* two.seen, { _tag: "Close", code: 1006 })
    })
  )

  it.live("stays with its server, and the next goes to the next", () =>
    Effect.gen(function* () {
      const servers = yield* Effect.forEach([0, 1], (index) =>
        Servers.webSocket((socket) => socket.send(String(index)))
      )
      const proxy = yield* Faults.start({ upstreams: servers.map(({ url }) => url), rate: 0 })
      const peers = yield* Effect.forEach([0, 1, 2, 3], () => open(proxy.url))
      for (const round of [1, 2]) {
        for (const [index, peer] of peers.entries()) {
          peer.send(`round ${round}`)
          assert.deepStrictEqual(yield* peer.seen, { _tag: "Message", text: String(index % 2) })
        }
      }
    })
  )

  it.live("is missed by a server that has not answered yet", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const asked = yield* Deferred.make<void>()
      const slow = createServer().on("upgrade", (_request, socket) => {
        Deferred.doneUnsafe(asked, Effect.void)
        socket.on("error", () => undefined).once("close", () => Deferred.doneUnsafe(closed, Effect.void))
        socket.on("end", () => socket.end()).resume()
      })
      const server = yield* Servers.listen(slow)
      const proxy = yield* Faults.start({ upstreams: server.url, rate: 0 })
      const peer = yield* connect(proxy.url)
      yield* Deferred.await(asked)
      peer.socket.terminate()
      yield* Deferred.await(closed)
    })
  )

  it.live("is refused by the server's own words", () =>
    Effect.gen(function* () {
      const refusing = createServer().on("upgrade", (_request, socket) => {
        socket.end("HTTP/1.1 401 No\r\ncontent-length: 2\r\nx-why: token\r\n\r\nno")
      })
      const server = yield* Servers.listen(refusing)
      const proxy = yield* Faults.start({ upstreams: server.url, rate: 0 })
      const peer = yield* connect(proxy.url)
      assert.deepStrictEqual(yield* peer.seen, { _tag: "Refused", status: 401 })
    })
  )
})

describe("a WebSocket that is asked for", () => {
  for (const silent of [false, true]) {
    const how = silent ? "without a sign" : "with its connection"

    it.live(`does not reach the server, and is lost ${how}`, () =>
      Effect.gen(function* () {
        const server = yield* Servers.webSocket()
        const proxy = yield* only("drop-request", server.url, { silentShare: silent ? 1 : 0 })
        const lost = yield* connect(proxy.url)
        if (!silent) assert.deepStrictEqual(yield* lost.seen, { _tag: "Close", code: 1006 })
        yield* Effect.repeat(proxy.counts, { until: ({ hits }) => hits["drop-request"] === 1 })
        yield* proxy.change({ rate: 0 })
        yield* open(proxy.url)
        assert.deepInclude(yield* server.seen, { _tag: "Open", connection: 1 })
        assert.strictEqual(lost.socket.readyState, silent ? 0 : 3)
      })
    )

    it.live(`is opened at the server, and the answer is lost ${how}`, () =>
      Effect.gen(function* () {
        const server = yield* Servers.webSocket()
        const proxy = yield* only("drop-answer", server.url, { silentShare: silent ? 1 : 0 })
        const peer = yield* connect(proxy.url)
        assert.deepInclude(yield* server.seen, { _tag: "Open", connection: 1 })
        if (silent) peer.socket.terminate()
        assert.deepStrictEqual(yield* peer.seen, { _tag: "Close", code: 1006 })
        assert.deepInclude(yield* server.seen, { _tag: "Close", connection: 1 })
      })
    )
  }

  for (const delivered of [true, false]) {
    it.live(`is answered as by a balancer, ${delivered ? "delivered" : "not delivered"}`, () =>
      Effect.gen(function* () {
        const seed = seedFor("balancer", "upgrade", firstUpgrade, (decision) => {
          return decision.status === 503 && decision.delivered === delivered
        })
        const server = yield* Servers.webSocket()
        const proxy = yield* only("balancer", server.url, { seed })
        const peer = yield* connect(proxy.url)
        assert.deepStrictEqual(yield* peer.seen, { _tag: "Refused", status: 503 })
        yield* proxy.change({ rate: 0 })
        yield* open(proxy.url)
        assert.deepInclude(yield* server.seen, { _tag: "Open", connection: 1 })
        if (delivered) assert.deepInclude(yield* server.seen, { _tag: "Close", connection: 1 })
      })
    )
  }

  it.live("may get half an answer", () =>
    Effect.gen(function* () {
      const server = yield* Servers.webSocket()
      const proxy = yield* only("cut", server.url)
      const peer = yield* connect(proxy.url)
      assert.deepStrictEqual(yield* peer.seen, { _tag: "Close", code: 1006 })
      assert.deepInclude(yield* server.seen, { _tag: "Open", connection: 1 })
      assert.deepInclude(yield* server.seen, { _tag: "Close", connection: 1 })
    })
  )

  for (const kind of ["delay", "half-open"] as const) {
    it.live(`opens later: ${kind}`, () =>
      Effect.gen(function* () {
        const settings = { delayMs: 200, halfOpenMs: 200 }
        const seed = seedFor(kind, "upgrade", firstUpgrade, ({ ms }) => ms > 150, settings)
        const server = yield* Servers.webSocket()
        const proxy = yield* only(kind, server.url, { seed, ...settings })
        const askedAt = performance.now()
        const peer = yield* Effect.forkChild(open(proxy.url))
        yield* Effect.repeat(proxy.counts, { until: ({ hits }) => hits[kind] === 1 })
        yield* proxy.change({ rate: 0 })
        const { seen, send } = yield* Fiber.join(peer)
        assert.isAtLeast(performance.now() - askedAt, 149)
        send("there")
        assert.deepStrictEqual(yield* seen, { _tag: "Message", text: "re: there" })
      })
    )
  }
})
