/** What is done to WebSockets and their messages: seen from the server and from the client. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Socket } from "node:net"
import { open, type Peer } from "./support/clients.ts"
import { firstMessage, only, seedFor } from "./support/proxies.ts"
import * as Servers from "./support/servers.ts"

type Server = Effect.Success<ReturnType<typeof Servers.webSocket>>

/** A server, a proxy whose faults begin now, and a client that is connected. */
const connected = Effect.fnUntraced(function* (
  kind: Parameters<typeof only>[0],
  options: Parameters<typeof only>[2] = {},
  onMessage?: Parameters<typeof Servers.webSocket>[0]
) {
  const server = yield* Servers.webSocket(onMessage)
  const proxy = yield* only(kind, server.url, { ...options, rate: 0 })
  const peer = yield* open(proxy.url)
  assert.strictEqual((yield* server.seen)._tag, "Open")
  yield* proxy.change({ rate: 1 })
  return { server, proxy, peer }
})

const message = (text: string) => ({ _tag: "Message", text }) as const
const received = (text: string, connection = 1) => ({ _tag: "Message", connection, text }) as const

/** Sends one message that is not hit, and checks that it is the next that each end sees. */
const isNext = Effect.fnUntraced(function* (peer: Peer, server: Server, text: string) {
  peer.send(text)
  assert.deepStrictEqual(yield* server.seen, received(text))
  assert.deepStrictEqual(yield* peer.seen, message(`re: ${text}`))
})

/** What the two ends see when the connection between them is lost. */
const areLost = Effect.fnUntraced(function* (peer: Peer, server: Server) {
  assert.deepStrictEqual(yield* peer.seen, { _tag: "Close", code: 1006 })
  assert.deepInclude(yield* server.seen, { _tag: "Close", connection: 1, code: 1006 })
})

/** Messages of the server's that answer nothing. */
const pushing = () => undefined

describe("drop-request", () => {
  it.live("vanishes without a sign, and those behind it do not", () =>
    Effect.gen(function* () {
      const { peer, proxy, server } = yield* connected("drop-request", { silentShare: 1 })
      peer.send("lost")
      yield* Effect.repeat(proxy.counts, { until: ({ hits }) => hits["drop-request"] === 1 })
      yield* proxy.change({ rate: 0 })
      yield* isNext(peer, server, "kept")
    })
  )

  it.live("may take the connection with it", () =>
    Effect.gen(function* () {
      const { peer, server } = yield* connected("drop-request", { silentShare: 0 })
      peer.send("lost")
      yield* areLost(peer, server)
    })
  )
})

describe("drop-answer", () => {
  it.live("is what the server says, and vanishes", () =>
    Effect.gen(function* () {
      const { peer, proxy, server } = yield* connected("drop-answer", { silentShare: 1 })
      peer.send("done")
      assert.deepStrictEqual(yield* server.seen, received("done"))
      yield* Effect.repeat(proxy.counts, { until: ({ hits }) => hits["drop-answer"] === 1 })
      yield* proxy.change({ rate: 0 })
      yield* isNext(peer, server, "next")
    })
  )

  it.live("may take the connection with it, when the server has done its work", () =>
    Effect.gen(function* () {
      const { peer, server } = yield* connected("drop-answer", { silentShare: 0 })
      peer.send("done")
      assert.deepStrictEqual(yield* server.seen, received("done"))
      yield* areLost(peer, server)
    })
  )
})

describe("repeat", () => {
  it.live("comes twice on the same connection, and both are answered", () =>
    Effect.gen(function* () {
      const { peer, proxy, server } = yield* connected("repeat", { apartShare: 0 }, pushing)
      peer.send("twice")
      assert.deepStrictEqual([yield* server.seen, yield* server.seen], [received("twice"), received("twice")])
      server.sockets()[0]?.send("answer")
      assert.deepStrictEqual([yield* peer.seen, yield* peer.seen], [message("answer"), message("answer")])
      assert.strictEqual((yield* proxy.counts).hits.repeat, 2)
    })
  )

  for (const answer of ["first", "second"] as const) {
    it.live(`comes over a connection of its own, and the client gets the ${answer} answer`, () =>
      Effect.gen(function* () {
        const seed = seedFor("repeat", "to-server", firstMessage, (decision) => decision.answer === answer)
        // The server answers on the second connection only, so that the client cannot mix them up.
        const { peer, proxy, server } = yield* connected("repeat", { apartShare: 1, seed }, (socket, text) => {
          if (server.sockets()[0] !== socket) socket.send(`second to ${text}`)
        })
        peer.send("twice")
        yield* Effect.repeat(proxy.counts, { until: ({ hits }) => hits.repeat === 1 })
        yield* proxy.change({ rate: 0 })
        const seen = [yield* server.seen, yield* server.seen, yield* server.seen]
        assert.sameDeepMembers(seen.slice(0, 3), [
          received("twice"),
          { _tag: "Open", connection: 2, protocol: "", extensions: "" },
          received("twice", 2)
        ])
        if (answer === "second") assert.deepStrictEqual(yield* peer.seen, message("second to twice"))
        yield* proxy.calm
        assert.deepInclude(yield* server.seen, { _tag: "Close", connection: 2 })
        server.sockets()[0]?.send("alive")
        assert.deepStrictEqual(yield* peer.seen, message("alive"))
      })
    )
  }

  it.live("passes once when it is too big to be kept", () =>
    Effect.gen(function* () {
      const { peer, proxy, server } = yield* connected("repeat", { copyBytes: 1000, apartShare: 0 }, pushing)
      const big = "x".repeat(1_000_000)
      peer.send(big)
      assert.deepStrictEqual(yield* server.seen, received(big))
      yield* proxy.change({ rate: 0 })
      peer.send("next")
      assert.deepStrictEqual(yield* server.seen, received("next"))
      assert.strictEqual((yield* proxy.counts).skipped, 1)
    })
  )
})

describe("late-repeat", () => {
  it.live("comes again later, on the same connection", () =>
    Effect.gen(function* () {
      const { peer, proxy, server } = yield* connected("late-repeat", { apartShare: 0, lateMs: 50 }, pushing)
      peer.send("late")
      assert.deepStrictEqual(yield* server.seen, received("late"))
      yield* proxy.calm
      assert.deepStrictEqual(yield* server.seen, received("late"))
      yield* proxy.change({ rate: 1 })
      server.sockets()[0]?.send("late answer")
      assert.deepStrictEqual([yield* peer.seen, yield* peer.seen], [message("late answer"), message("late answer")])
    })
  )

  it.live("comes again later, over a connection of its own, also when the first is gone", () =>
    Effect.gen(function* () {
      const { peer, proxy, server } = yield* connected("late-repeat", { apartShare: 1, lateMs: 50 })
      peer.send("late")
      assert.deepStrictEqual(yield* server.seen, received("late"))
      yield* proxy.change({ rate: 0 })
      peer.socket.terminate()
      const seen = [yield* server.seen, yield* server.seen, yield* server.seen]
      assert.deepInclude(seen, received("late", 2))
    })
  )

  it.live("is given up when its connection is gone", () =>
    Effect.gen(function* () {
      const settings = { apartShare: 0, lateMs: 500 }
      const seed = seedFor("late-repeat", "to-server", firstMessage, ({ ms }) => ms > 400, settings)
      const { peer, proxy, server } = yield* connected("late-repeat", { ...settings, seed }, pushing)
      peer.send("late")
      assert.deepStrictEqual(yield* server.seen, received("late"))
      peer.socket.terminate()
      yield* proxy.calm
      assert.strictEqual((yield* proxy.counts).skipped, 1)
    })
  )
})

describe("delay", () => {
  it.live("holds a message and those behind it, in their order", () =>
    Effect.gen(function* () {
      const seed = seedFor("delay", "to-server", firstMessage, ({ ms }) => ms > 150, { delayMs: 200 })
      const { peer, proxy, server } = yield* connected("delay", { seed, delayMs: 200 }, pushing)
      const sentAt = performance.now()
      peer.send("one")
      yield* Effect.repeat(proxy.counts, { until: ({ hits }) => hits.delay === 1 })
      yield* proxy.change({ rate: 0 })
      peer.send("two")
      assert.deepStrictEqual(yield* server.seen, received("one"))
      assert.isAtLeast(performance.now() - sentAt, 149)
      assert.deepStrictEqual(yield* server.seen, received("two"))
    })
  )
})

describe("reorder", () => {
  it.live("waits until another connection's message has overtaken it", () =>
    Effect.gen(function* () {
      const { peer, proxy, server } = yield* connected("reorder", { delayMs: 20_000 }, pushing)
      peer.send("first")
      yield* Effect.repeat(proxy.counts, { until: ({ hits }) => hits.reorder === 1 })
      yield* proxy.change({ rate: 0 })
      const other = yield* open(proxy.url)
      assert.strictEqual((yield* server.seen)._tag, "Open")
      other.send("second")
      assert.deepStrictEqual([yield* server.seen, yield* server.seen], [received("second", 2), received("first")])
    })
  )
})

describe("cut", () => {
  const long = "x".repeat(5000)

  it.live("ends both connections in the middle of a frame to the server", () =>
    Effect.gen(function* () {
      const { peer, server } = yield* connected("cut")
      peer.send(long)
      yield* areLost(peer, server)
    })
  )

  it.live("ends both connections in the middle of a frame to the client", () =>
    Effect.gen(function* () {
      const { peer, server } = yield* connected("cut")
      let came = 0
      // What comes to the client below its WebSocket, which keeps its socket under this name.
      const below: { readonly _socket?: Socket } = peer.socket as object
      below._socket?.on("data", (chunk: Buffer) => (came += chunk.length))
      server.sockets()[0]?.send(long)
      yield* areLost(peer, server)
      assert.isAbove(came, 0)
      assert.isBelow(came, long.length)
    })
  )
})

describe("half-open", () => {
  for (const side of ["request", "answer"] as const) {
    it.live(`is silent both ways, ${side === "request" ? "before" : "after"} the message, and goes on`, () =>
      Effect.gen(function* () {
        const settings = { halfOpenMs: 300 }
        const isLong = ({ ms, side: hit }: { readonly ms: number; readonly side: string }) => hit === side && ms > 200
        const seed = seedFor("half-open", "to-server", firstMessage, isLong, settings)
        const { peer, proxy, server } = yield* connected("half-open", { seed, ...settings }, pushing)
        const sentAt = performance.now()
        peer.send("into the silence")
        yield* Effect.repeat(proxy.counts, { until: ({ hits }) => hits["half-open"] === 1 })
        yield* proxy.change({ rate: 0 })
        if (side === "answer") assert.deepStrictEqual(yield* server.seen, received("into the silence"))
        // Nothing passes, neither a ping nor what the server says.
        peer.socket.ping("are you there")
        server.sockets()[0]?.send("hello")
        assert.deepStrictEqual(yield* peer.seen, message("hello"))
        assert.isAtLeast(performance.now() - sentAt, 199)
        const seen = side === "request" ? [yield* server.seen, yield* server.seen] : [yield* server.seen]
        assert.deepStrictEqual(seen.at(-1), { _tag: "Ping", connection: 1, text: "are you there" })
        if (side === "request") assert.deepStrictEqual(seen[0], received("into the silence"))
      })
    )
  }

  it.live("hides from the server that the client has gone, until it is over", () =>
    Effect.gen(function* () {
      const settings = { halfOpenMs: 300 }
      const seed = seedFor(
        "half-open",
        "to-server",
        firstMessage,
        ({ ms, side }) => side === "answer" && ms > 200,
        settings
      )
      const { peer, proxy, server } = yield* connected("half-open", { seed, ...settings }, pushing)
      const sentAt = performance.now()
      peer.send("last words")
      assert.deepStrictEqual(yield* server.seen, received("last words"))
      peer.socket.terminate()
      assert.deepInclude(yield* server.seen, { _tag: "Close", connection: 1 })
      assert.isAtLeast(performance.now() - sentAt, 199)
      yield* proxy.calm
    })
  )
})
