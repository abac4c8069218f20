/** What is not hit passes as if there were no proxy: HTTP of every shape, several servers, servers that fail. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { Agent, createServer, request as httpRequest } from "node:http"
import { connect as tcp, createServer as createTcpServer } from "node:net"
import { Faults } from "../src/index.ts"
import { send, textOf } from "./support/clients.ts"
import * as Servers from "./support/servers.ts"

const calm = (upstreams: string | ReadonlyArray<string>) => Faults.start({ upstreams, rate: 0 })

/** All that comes back on a bare connection until it ends. */
const raw = (port: number, bytes: string | Buffer): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = []
    const socket = tcp(port, "127.0.0.1", () => socket.write(bytes))
    socket.on("data", (chunk) => chunks.push(chunk))
    socket.on("error", () => undefined)
    socket.on("close", () => resume(Effect.succeed(String(Buffer.concat(chunks)))))
    return Effect.sync(() => socket.destroy())
  })

const one = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nhost: x\r\n${more}\r\n`

const sha = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex")

describe("a request that is not hit", () => {
  it.live("reaches the server as it was sent, and so does the answer the client", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http((_request, response) => {
        response.writeHead(201, "Made It", [
          ["X-Twice", "a"],
          ["X-Twice", "b"],
          ["Content-Type", "text/plain"]
        ])
        response.end("answer")
      })
      const proxy = yield* calm(server.url)
      const headers = { "X-Mine": "ä", "Content-Type": "application/json", authorization: "Bearer x" }
      const outcome = yield* send(proxy.url, {
        method: "PATCH",
        path: "/p/q?r=s%20t",
        headers,
        body: Buffer.from('{"a":1}')
      })
      const { headers: got, ...received } = yield* server.received
      assert.deepInclude(received, { method: "PATCH", url: "/p/q?r=s%20t", body: Buffer.from('{"a":1}') })
      assert.deepInclude(got, {
        "x-mine": "ä",
        "content-type": "application/json",
        "content-length": "7",
        authorization: "Bearer x",
        host: `127.0.0.1:${proxy.port}`
      })
      if (outcome._tag !== "Answered") return assert.fail(outcome._tag)
      assert.deepInclude(outcome, { status: 201, body: Buffer.from("answer") })
      assert.deepInclude(outcome.headers, { "x-twice": "a, b", "content-type": "text/plain" })
    })
  )

  it.live("may be big, both ways, with a length or without", () =>
    Effect.gen(function* () {
      const body = randomBytes(8_000_000)
      const server = yield* Servers.http(({ body: got }, response) => response.end(got))
      const proxy = yield* calm(server.url)
      for (const headers of [{ "content-length": body.length }, { "transfer-encoding": "chunked" }]) {
        const outcome = yield* send(proxy.url, { headers, body })
        assert.strictEqual(outcome._tag === "Answered" && sha(outcome.body), sha(body))
      }
    })
  )

  it.live("may have no body, or an answer without one", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http(({ method }, response) => {
        if (method === "DELETE") response.writeHead(204).end()
        else response.writeHead(200, { "content-length": 5 }).end(method === "HEAD" ? undefined : "hello")
      })
      const proxy = yield* calm(server.url)
      const outcomes = yield* Effect.forEach(["GET", "HEAD", "DELETE"], (method) => send(proxy.url, { method }))
      assert.deepStrictEqual(
        outcomes.map((outcome) => outcome._tag === "Answered" && [outcome.status, String(outcome.body)]),
        [
          [200, "hello"],
          [200, ""],
          [204, ""]
        ]
      )
    })
  )

  it.live("gets the head of a stream before its first bytes", () =>
    Effect.gen(function* () {
      let finish: (() => void) | undefined
      const server = yield* Servers.http((_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
        finish = () => response.end("data: 1\n\n")
      })
      const proxy = yield* calm(server.url)
      const text = yield* Effect.callback<string>((resume) => {
        const asked = httpRequest(proxy.url, (response) => {
          // The head is here, and nothing of the body was sent.
          finish?.()
          response.setEncoding("utf8").on("data", (data) => resume(Effect.succeed(String(data))))
        })
        asked.end()
      })
      assert.strictEqual(text, "data: 1\n\n")
    })
  )

  it.live("is held back while its reader does not read", () =>
    Effect.gen(function* () {
      const size = 64 * 1024 * 1024
      let sent = 0
      const server = yield* Servers.http((_request, response) => {
        response.writeHead(200, { "content-length": size })
        const more = () => {
          while (sent < size) {
            sent += 65_536
            if (!response.write(Buffer.alloc(65_536))) return void response.once("drain", more)
          }
          response.end()
        }
        more()
      })
      const proxy = yield* calm(server.url)
      const received = yield* Effect.callback<{ readonly whileSlow: number; readonly total: number }>((resume) => {
        const asked = httpRequest(proxy.url, (response) => {
          let total = 0
          // Long enough for all of it to come, if nothing held it back.
          setTimeout(() => {
            const whileSlow = sent
            response.on("data", (chunk: Buffer) => (total += chunk.length))
            response.on("end", () => resume(Effect.succeed({ whileSlow, total })))
          }, 500)
        })
        asked.end()
      })
      assert.strictEqual(received.total, size)
      assert.isBelow(received.whileSlow, size / 2)
    })
  )

  it.live("may be answered long after it was sent", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http((_request, response) => void setTimeout(() => response.end("at last"), 1500))
      const proxy = yield* calm(server.url)
      assert.strictEqual(textOf(yield* send(proxy.url, { body: "x" })), "at last")
    })
  )

  it.live("may follow others on its connection, also before they are answered", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const proxy = yield* calm(server.url)
      const text = yield* raw(proxy.port, `${one("/a")}${one("/b")}${one("/c", "connection: close\r\n")}`)
      const answers = text.match(/GET \/\w/g)
      assert.deepStrictEqual([...(answers ?? [])], ["GET /a", "GET /b", "GET /c"])
    })
  )
})

describe("several servers", () => {
  it.live("get the requests in turn, whatever connection they come on", () =>
    Effect.gen(function* () {
      const servers = yield* Effect.forEach([0, 1, 2], (index) =>
        Servers.http((_request, response) => response.end(String(index)))
      )
      const proxy = yield* calm(servers.map(({ url }) => url))
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const texts = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => Effect.map(send(proxy.url, { agent }), textOf))
      assert.strictEqual(texts.join(""), "012012")
      agent.destroy()
    })
  )

  it.live("stand in for one that takes no connections", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(Servers.http())
      const server = yield* Servers.http()
      const proxy = yield* calm([gone.url, server.url, gone.url])
      const texts = yield* Effect.forEach(["a", "b", "c", "d"], (body) => Effect.map(send(proxy.url, { body }), textOf))
      assert.deepStrictEqual(texts, ["1 POST / a", "2 POST / b", "3 POST / c", "4 POST / d"])
      assert.strictEqual((yield* proxy.counts).troubles, 0)
    })
  )

  it.live("can be others from now on", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* Servers.http(), yield* Servers.http((_request, response) => response.end("two"))]
      const proxy = yield* calm(one.url)
      assert.strictEqual(textOf(yield* send(proxy.url, { body: "x" })), "1 POST / x")
      yield* proxy.change({ upstreams: [two.url] })
      assert.strictEqual(textOf(yield* send(proxy.url, { body: "x" })), "two")
    })
  )
})

describe("a server that fails", () => {
  it.live("and takes no connection ends the client's", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(Servers.http())
      const proxy = yield* calm(gone.url)
      assert.deepStrictEqual(yield* send(proxy.url, { body: "x" }), { _tag: "Failed", code: "ECONNRESET" })
      assert.strictEqual((yield* proxy.counts).troubles, 1)
    })
  )

  it.live("before its answer ends the client's connection", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http((_request, response) => response.destroy())
      const proxy = yield* calm(server.url)
      assert.deepStrictEqual(yield* send(proxy.url, { body: "x" }), { _tag: "Failed", code: "ECONNRESET" })
      assert.strictEqual((yield* proxy.counts).troubles, 1)
    })
  )

  it.live("in the middle of its answer breaks the client's off there", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http((_request, response) => {
        response.writeHead(200, { "content-length": 10 })
        response.write("half", () => response.destroy())
      })
      const proxy = yield* calm(server.url)
      const outcome = yield* send(proxy.url, { body: "x" })
      assert.deepInclude(outcome, { _tag: "Broken", status: 200, body: Buffer.from("half") })
    })
  )

  it.live("refuses a body before it has come: the client sees the refusal", () =>
    Effect.gen(function* () {
      const early = createServer((request, response) => {
        response.writeHead(413).end("too big")
        request.resume()
      })
      const server = yield* Servers.listen(early)
      const proxy = yield* calm(server.url)
      const outcome = yield* send(proxy.url, { body: Buffer.alloc(1_000_000) })
      assert.strictEqual(textOf(outcome), "too big")
    })
  )

  it.each([
    { what: "no HTTP", answer: () => randomBytes(500) },
    { what: "a status that is none", answer: () => Buffer.from("HTTP/1.1 099 no\r\ncontent-length: 0\r\n\r\n") }
  ])("by an answer that is $what ends the client's connection", ({ answer }) =>
    Effect.runPromise(
      Effect.gen(function* () {
        const noise = createTcpServer((socket) => void socket.on("error", () => undefined).end(answer()))
        yield* Effect.callback<void>((resume) => void noise.listen(0, "127.0.0.1", () => resume(Effect.void)))
        yield* Effect.addFinalizer(() => Effect.sync(() => void noise.close()))
        const address = noise.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const proxy = yield* calm(`http://127.0.0.1:${port}`)
        assert.deepStrictEqual(yield* send(proxy.url, { body: "x" }), { _tag: "Failed", code: "ECONNRESET" })
        assert.strictEqual((yield* proxy.counts).troubles, 1)
      }).pipe(Effect.scoped)
    )
  )
})

describe("what is no HTTP", () => {
  it.live("harms nobody", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http(() => undefined)
      const proxy = yield* Faults.start({
        upstreams: server.url,
        rate: 0.5,
        seed: 7,
        kinds: ["delay", "cut", "repeat"]
      })
      const noise = [
        randomBytes(10_000),
        Buffer.from("GET / HTTP/1.1\r\n\r\n"),
        Buffer.from(`GET /${"x".repeat(300_000)} HTTP/1.1\r\n`),
        Buffer.from("POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
        Buffer.from("GET / HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n\x00\xff"),
        Buffer.from("CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n"),
        Buffer.alloc(0)
      ]
      const left = yield* Effect.forEach(noise, (bytes) => Effect.forkChild(raw(proxy.port, bytes)))
      yield* Effect.sleep(200)
      yield* Effect.forEach(left, Fiber.interrupt)
      yield* proxy.change({ rate: 0 })
      const other = yield* Servers.http()
      yield* proxy.change({ upstreams: [other.url] })
      assert.strictEqual(textOf(yield* send(proxy.url, { body: "fine" })), "1 POST / fine")
    })
  )
})

/** What comes back behind the head of an upgraded connection on which these bytes were sent. */
const upgraded = (port: number, bytes: Buffer, until: (all: Buffer) => boolean) =>
  Effect.callback<Buffer>((resume) => {
    let all = Buffer.alloc(0)
    const socket = tcp(port, "127.0.0.1", () => {
      socket.write("GET / HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n")
      socket.write(bytes)
    })
    const done = () => {
      socket.destroy()
      resume(Effect.succeed(all.subarray(all.indexOf("\r\n\r\n") + 4)))
    }
    socket.on("data", (chunk) => {
      all = Buffer.concat([all, chunk])
      if (until(all)) done()
    })
    socket.on("error", () => undefined).on("close", done)
    return Effect.sync(() => socket.destroy())
  })

describe("what is no WebSocket", () => {
  /** Accepts every upgrade, and gives back every byte. */
  const parrot = createServer().on("upgrade", (_request, socket) => {
    socket.on("error", () => undefined)
    socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n")
    socket.pipe(socket)
  })

  it.live("passes as it is when it is not hit, and harms nobody when it is", () =>
    Effect.gen(function* () {
      const server = yield* Servers.listen(parrot)
      const proxy = yield* Faults.start({
        upstreams: server.url,
        rate: 0,
        seed: 3,
        delayMs: 2,
        halfOpenMs: 2,
        lateMs: 2
      })
      // Behind what cannot be told apart from the beginning of a frame.
      const noise = Buffer.concat([randomBytes(100_000), Buffer.alloc(200)])
      const back = yield* upgraded(proxy.port, noise, (all) => all.includes(noise.subarray(0, 90_000)))
      assert.isTrue(back.subarray(0, 90_000).equals(noise.subarray(0, 90_000)))
      yield* proxy.change({ rate: 0.5 })
      const hits = Array.from({ length: 50 }, () => upgraded(proxy.port, randomBytes(5000), (all) => all.length > 4000))
      yield* Effect.forEach(hits, (hit) => Effect.timeoutOption(hit, 100), { concurrency: 10 })
      yield* proxy.calm
      const still = yield* upgraded(proxy.port, Buffer.from("\x81\x02zz", "latin1"), (all) => all.includes("zz"))
      assert.strictEqual(String(still.subarray(2)), "zz")
    })
  )
})
