/** What is done to HTTP requests and their answers: seen from the server and from the client. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Agent } from "node:http"
import { connect as tcp } from "node:net"
import { type Outcome, send, textOf } from "./support/clients.ts"
import { firstRequest, only, seedFor, timed } from "./support/proxies.ts"
import * as Servers from "./support/servers.ts"

const failed = (code: string): Outcome => ({ _tag: "Failed", code })

describe("drop-request", () => {
  it.live("does not reach the server, and ends the connection", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const proxy = yield* only("drop-request", server.url, { silentShare: 0 })
      assert.deepStrictEqual(yield* send(proxy.url, { body: "lost" }), failed("ECONNRESET"))
      yield* proxy.change({ rate: 0 })
      assert.strictEqual(textOf(yield* send(proxy.url, { body: "kept" })), "1 POST / kept")
      assert.strictEqual((yield* proxy.counts).hits["drop-request"], 1)
    })
  )

  it.live("may be lost without a sign", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const proxy = yield* only("drop-request", server.url, { silentShare: 1 })
      const silent = yield* Effect.forkChild(send(proxy.url, { body: "lost" }))
      yield* Effect.repeat(proxy.counts, { until: ({ hits }) => hits["drop-request"] === 1 })
      yield* proxy.change({ rate: 0 })
      assert.strictEqual(textOf(yield* send(proxy.url, { body: "kept" })), "1 POST / kept")
      assert.isUndefined(silent.pollUnsafe())
      yield* Fiber.interrupt(silent)
    })
  )
})

describe("drop-answer", () => {
  it.live("is delivered, and its answer ends with the connection", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const proxy = yield* only("drop-answer", server.url, { silentShare: 0 })
      assert.deepStrictEqual(yield* send(proxy.url, { body: "done" }), failed("ECONNRESET"))
      const { body, isWhole } = yield* server.received
      assert.deepStrictEqual({ body: String(body), isWhole }, { body: "done", isWhole: true })
    })
  )

  it.live("is delivered also when the client does not stay", () =>
    Effect.gen(function* () {
      let answer: (() => void) | undefined
      const server = yield* Servers.http((_request, response) => {
        answer = () => response.end("late")
      })
      const proxy = yield* only("drop-answer", server.url, { silentShare: 1 })
      const client = yield* Effect.forkChild(send(proxy.url, { body: "done" }))
      const { abandoned } = yield* server.received
      yield* Fiber.interrupt(client)
      let isAbandoned = false
      void abandoned.then(() => (isAbandoned = true))
      answer?.()
      yield* proxy.calm
      assert.isFalse(isAbandoned)
    })
  )
})

describe("repeat", () => {
  for (const answer of ["first", "second"] as const) {
    it.live(`is delivered twice, and the client gets the ${answer} answer`, () =>
      Effect.gen(function* () {
        const servers = [yield* Servers.http(), yield* Servers.http()] as const
        const seed = seedFor("repeat", "request", firstRequest, (decision) => decision.answer === answer)
        const proxy = yield* only("repeat", [servers[0].url, servers[1].url], { seed })
        const client = yield* send(proxy.url, { method: "PUT", path: "/a?b=c", body: "twice" })
        const [one, two] = [yield* servers[0].received, yield* servers[1].received]
        assert.deepStrictEqual([String(one.body), String(two.body)], ["twice", "twice"])
        assert.deepStrictEqual([one.method, two.method, one.url, two.url], ["PUT", "PUT", "/a?b=c", "/a?b=c"])
        assert.deepStrictEqual(one.headers, two.headers)
        assert.strictEqual(textOf(client), "1 PUT /a?b=c twice")
        yield* proxy.calm
        assert.deepStrictEqual([yield* servers[0].waiting, yield* servers[1].waiting], [0, 0])
      })
    )
  }

  it.live("gives the second answer of one server, too", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const seed = seedFor("repeat", "request", firstRequest, ({ answer }) => answer === "second")
      const proxy = yield* only("repeat", server.url, { seed })
      // Which of the two comes first, the server alone knows.
      assert.match(textOf(yield* send(proxy.url, { body: "x" })), /^[12] POST \/ x$/)
      yield* server.received
      yield* server.received
    })
  )

  it.live("passes once when it is too big to be kept", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http((_request, response) => response.end("ok"))
      const proxy = yield* only("repeat", server.url, { copyBytes: 1000 })
      const body = Buffer.alloc(5_000_000, "x")
      assert.strictEqual(textOf(yield* send(proxy.url, { body })), "ok")
      assert.isTrue((yield* server.received).body.equals(body))
      yield* proxy.calm
      assert.strictEqual(yield* server.waiting, 0)
      assert.strictEqual((yield* proxy.counts).skipped, 1)
    })
  )
})

describe("late-repeat", () => {
  it.live("is delivered again after the client has its answer", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const proxy = yield* only("late-repeat", server.url, { lateMs: 50 })
      assert.strictEqual(textOf(yield* send(proxy.url, { body: "again" })), "1 POST / again")
      assert.strictEqual(String((yield* server.received).body), "again")
      yield* proxy.calm
      assert.strictEqual(String((yield* server.received).body), "again")
    })
  )

  it.live("keeps no more than it may", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const proxy = yield* only("late-repeat", server.url, { heldBytes: 15 })
      const outcomes = yield* Effect.all(
        [1, 2, 3].map(() => send(proxy.url, { body: "x".repeat(10) })),
        { concurrency: 1 }
      )
      assert.deepStrictEqual(
        outcomes.map(({ _tag }) => _tag),
        ["Answered", "Answered", "Answered"]
      )
      yield* proxy.calm
      const { hits, skipped } = yield* proxy.counts
      assert.deepStrictEqual({ hits: hits["late-repeat"], all: skipped + (yield* server.waiting) }, { hits: 3, all: 6 })
      assert.isAtLeast(skipped, 1)
    })
  )
})

describe("delay", () => {
  for (const side of ["request", "answer"] as const) {
    it.live(`holds the ${side}`, () =>
      Effect.gen(function* () {
        const seed = seedFor(
          "delay",
          "request",
          firstRequest,
          (decision) => decision.side === side && decision.ms > 150,
          {
            delayMs: 200
          }
        )
        let arrivedAt = 0
        const server = yield* Servers.http((_request, response) => {
          arrivedAt = performance.now()
          response.end("ok")
        })
        const proxy = yield* only("delay", server.url, { seed, delayMs: 200 })
        const sentAt = performance.now()
        const { ms, value } = yield* timed(send(proxy.url, { body: "x" }))
        assert.strictEqual(textOf(value), "ok")
        assert.isAtLeast(ms, 149)
        if (side === "request") assert.isAtLeast(arrivedAt - sentAt, 149)
      })
    )
  }
})

describe("reorder", () => {
  it.live("waits until another connection's has overtaken it", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const proxy = yield* only("reorder", server.url, { delayMs: 20_000 })
      const first = yield* Effect.forkChild(send(proxy.url, { body: "first" }))
      yield* Effect.repeat(proxy.counts, { until: ({ hits }) => hits.reorder === 1 })
      yield* proxy.change({ rate: 0 })
      assert.strictEqual(textOf(yield* send(proxy.url, { body: "second" })), "1 POST / second")
      assert.strictEqual(textOf(yield* Fiber.join(first)), "2 POST / first")
    })
  )

  it.live("goes on alone when nothing comes", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const proxy = yield* only("reorder", server.url, { delayMs: 50 })
      assert.strictEqual(textOf(yield* send(proxy.url, { body: "alone" })), "1 POST / alone")
    })
  )
})

describe("cut", () => {
  const body = "b".repeat(10_000)

  it.live("ends both connections in the middle of a request", () =>
    Effect.gen(function* () {
      // Behind the head, which is far shorter than the body.
      const seed = seedFor("cut", "request", firstRequest, ({ share, side }) => side === "request" && share > 0.3)
      const server = yield* Servers.http()
      const proxy = yield* only("cut", server.url, { seed })
      assert.deepStrictEqual(yield* send(proxy.url, { body }), failed("ECONNRESET"))
      const received = yield* server.received
      assert.isFalse(received.isWhole)
      assert.isAbove(received.body.length, 0)
      assert.isBelow(received.body.length, body.length)
    })
  )

  it.live("ends the client's connection in the middle of an answer", () =>
    Effect.gen(function* () {
      const seed = seedFor("cut", "request", firstRequest, ({ share, side }) => side === "answer" && share > 0.3)
      const server = yield* Servers.http((_request, response) => response.end(body))
      const proxy = yield* only("cut", server.url, { seed })
      const outcome = yield* send(proxy.url, { body: "whole" })
      assert.isTrue((yield* server.received).isWhole)
      if (outcome._tag !== "Broken") return assert.fail(`it was not cut: ${outcome._tag}`)
      assert.strictEqual(outcome.status, 200)
      assert.isAbove(outcome.body.length, 0)
      assert.isBelow(outcome.body.length, body.length)
    })
  )

  it.live("may cut in a head", () =>
    Effect.gen(function* () {
      const seed = seedFor("cut", "request", firstRequest, ({ share, side }) => side === "answer" && share < 0.1)
      const server = yield* Servers.http((_request, response) => response.writeHead(204).end())
      const proxy = yield* only("cut", server.url, { seed })
      assert.deepStrictEqual(yield* send(proxy.url, { method: "GET" }), failed("ECONNRESET"))
      assert.isTrue((yield* server.received).isWhole)
    })
  )
})

describe("half-open", () => {
  const settings = { halfOpenMs: 200 }

  it.live("delivers what was sent when the silence is over, also when the client has gone", () =>
    Effect.gen(function* () {
      const wanted = seedFor(
        "half-open",
        "request",
        firstRequest,
        ({ ms, side }) => side === "request" && ms > 150,
        settings
      )
      const server = yield* Servers.http(() => undefined)
      const proxy = yield* only("half-open", server.url, { seed: wanted, ...settings })
      const sentAt = performance.now()
      const client = yield* Effect.forkChild(send(proxy.url, { body: "silence" }))
      yield* Effect.repeat(proxy.counts, { until: ({ hits }) => hits["half-open"] === 1 })
      yield* Fiber.interrupt(client)
      const received = yield* server.received
      assert.isAtLeast(performance.now() - sentAt, 149)
      assert.strictEqual(String(received.body), "silence")
      // The server learns then that there is nobody left.
      yield* Effect.promise(() => received.abandoned)
    })
  )

  it.live("delivers also what was too big to be kept", () =>
    Effect.gen(function* () {
      const seed = seedFor("half-open", "request", firstRequest, ({ side }) => side === "request", settings)
      const server = yield* Servers.http((_request, response) => response.end("ok"))
      const proxy = yield* only("half-open", server.url, { seed, copyBytes: 100_000, ...settings })
      const body = Buffer.alloc(3_000_000, "x")
      assert.strictEqual(textOf(yield* send(proxy.url, { body })), "ok")
      assert.isTrue((yield* server.received).body.equals(body))
    })
  )

  it.live("holds the answer until the silence is over", () =>
    Effect.gen(function* () {
      const wanted = seedFor(
        "half-open",
        "request",
        firstRequest,
        ({ ms, side }) => side === "answer" && ms > 150,
        settings
      )
      const server = yield* Servers.http()
      const proxy = yield* only("half-open", server.url, { seed: wanted, ...settings })
      const { ms, value } = yield* timed(send(proxy.url, { body: "x" }))
      assert.strictEqual(textOf(value), "1 POST / x")
      assert.isAtLeast(ms, 149)
    })
  )
})

describe("balancer", () => {
  for (const status of [502, 503, 504]) {
    for (const delivered of [true, false]) {
      it.live(`answers ${status}, ${delivered ? "delivered" : "not delivered"}`, () =>
        Effect.gen(function* () {
          const seed = seedFor("balancer", "request", firstRequest, (decision) => {
            return decision.status === status && decision.delivered === delivered
          })
          const server = yield* Servers.http()
          const proxy = yield* only("balancer", server.url, { seed })
          const agent = new Agent({ keepAlive: true })
          const outcome = yield* send(proxy.url, { body: "x", agent })
          assert.deepInclude(outcome, { _tag: "Answered", status })
          assert.match(textOf(outcome), /^<html>/)
          assert.strictEqual(yield* server.waiting, delivered ? 1 : 0)
          // The connection lives on.
          yield* proxy.change({ rate: 0 })
          assert.match(textOf(yield* send(proxy.url, { body: "y", agent })), /POST \/ y$/)
          assert.strictEqual((yield* proxy.counts).seen.connection, 1)
          agent.destroy()
        })
      )
    }
  }

  it.live("gives a slow server up", () =>
    Effect.gen(function* () {
      const seed = seedFor("balancer", "request", firstRequest, ({ delivered }) => delivered)
      const server = yield* Servers.http(() => undefined)
      const proxy = yield* only("balancer", server.url, { seed, balancerMs: 50 })
      assert.match(textOf(yield* send(proxy.url, { body: "x" })), /^<html>/)
      const { abandoned } = yield* server.received
      yield* Effect.promise(() => abandoned)
    })
  )
})

describe("refuse", () => {
  it.live("resets a connection and accepts none for a while; others stay", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      // The first connection and its request come first.
      const seed = seedFor("refuse", "connection", 3, ({ ms }) => ms > 1500, { refuseMs: 2000 })
      const proxy = yield* only("refuse", server.url, { rate: 0, refuseMs: 2000, seed })
      const agent = new Agent({ keepAlive: true })
      yield* send(proxy.url, { body: "open", agent })
      yield* proxy.change({ rate: 1 })
      assert.deepStrictEqual(yield* send(proxy.url, { body: "x" }), failed("ECONNRESET"))
      yield* proxy.change({ rate: 0 })
      assert.deepStrictEqual(yield* send(proxy.url, { body: "y" }), failed("ECONNREFUSED"))
      assert.match(textOf(yield* send(proxy.url, { body: "still", agent })), /still$/)
      yield* proxy.calm
      assert.match(textOf(yield* send(proxy.url, { body: "again" })), /again$/)
      agent.destroy()
    })
  )
})

describe("a client that goes away", () => {
  it.live("is missed by the server", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http(() => undefined)
      const proxy = yield* only("delay", server.url, { rate: 0 })
      const client = yield* Effect.forkChild(send(proxy.url, { body: "x" }))
      const { abandoned } = yield* server.received
      yield* Fiber.interrupt(client)
      yield* Effect.promise(() => abandoned)
    })
  )

  it.live("leaves no half request that looks whole", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const proxy = yield* only("delay", server.url, { rate: 0 })
      const socket = tcp(proxy.port, "127.0.0.1")
      socket.write("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf")
      yield* Effect.repeat(proxy.counts, { until: ({ seen }) => seen.request === 1 })
      socket.resetAndDestroy()
      assert.isFalse((yield* server.received).isWhole)
    })
  )
})
