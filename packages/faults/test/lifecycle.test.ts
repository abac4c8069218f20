/** A proxy from its start to its end: replays, changes, the log, what is left behind, many connections at once. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Faults } from "../src/index.ts"
import { open, send, textOf } from "./support/clients.ts"
import { only } from "./support/proxies.ts"
import * as Servers from "./support/servers.ts"

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "jobwire-faults-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

const linesOf = (path: string): ReadonlyArray<Record<string, unknown>> =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

const withoutTime = ({ connection, how, kind, n, target, what }: Faults.Entry) => {
  return { n, connection, target, what, kind, how }
}

/** Two hundred requests, one after another, and what was hit of them. */
const run = (url: string, seed: number) =>
  Effect.gen(function* () {
    const kinds = ["drop-request", "drop-answer", "repeat", "cut", "balancer", "delay"] as const
    const proxy = yield* Faults.start({ upstreams: url, rate: 0.3, kinds, delayMs: 2, silentShare: 0, seed })
    const outcomes = yield* Effect.forEach(
      Array.from({ length: 200 }, (_, at) => at),
      (at) => send(proxy.url, { body: `request ${at}`, path: `/${at}?secret=x` })
    )
    const hits = (yield* proxy.log).map(withoutTime)
    return { hits, outcomes: outcomes.map((outcome) => (outcome._tag === "Answered" ? outcome.status : outcome._tag)) }
  }).pipe(Effect.scoped)

describe("a seed", () => {
  it.live("replays what is decided, and what the client sees", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http((_request, response) => response.end("x".repeat(500)))
      const [one, again, other] = [yield* run(server.url, 11), yield* run(server.url, 11), yield* run(server.url, 12)]
      assert.deepStrictEqual(again, one)
      assert.notDeepEqual(other.hits, one.hits)
      assert.isAtLeast(one.hits.length, 30)
    })
  )

  it.live("is drawn when none is given, and told", () =>
    Effect.gen(function* () {
      const [one, two] = [
        yield* Faults.start({ upstreams: "http://127.0.0.1:1" }),
        yield* Faults.start({ upstreams: "http://127.0.0.1:1" })
      ]
      assert.notStrictEqual(one.seed, two.seed)
    })
  )
})

describe("settings", () => {
  it.live("change while the proxy runs; a bad change is refused and changes nothing", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http((_request, response) => response.end("ok"))
      const proxy = yield* Faults.start({ upstreams: server.url, rate: 0, kinds: ["balancer"] })
      assert.strictEqual(textOf(yield* send(proxy.url)), "ok")
      yield* proxy.change({ rate: 1 })
      assert.match(textOf(yield* send(proxy.url)), /^<html>/)
      const error = yield* Effect.flip(proxy.change({ rate: 2, kinds: ["delay"] }))
      assert.strictEqual(error.message, "rate must be a number from 0 to 1, and is 2")
      assert.deepInclude(yield* proxy.settings, { rate: 1, kinds: ["balancer"] })
      yield* proxy.change({ kinds: ["delay"], delayMs: 1 })
      assert.strictEqual(textOf(yield* send(proxy.url)), "ok")
    })
  )
})

describe("a calm", () => {
  it.live("ends the faults, changes no other setting, and waits until nothing is held back", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const proxy = yield* only("late-repeat", "http://127.0.0.1:1", { lateMs: 50 })
      yield* proxy.change({ upstreams: [server.url], lateMs: 40 })
      yield* send(proxy.url, { body: "x" })
      yield* proxy.calm
      assert.strictEqual(yield* server.waiting, 2)
      assert.deepInclude(yield* proxy.settings, { rate: 0, upstreams: [server.url], lateMs: 40 })
      assert.strictEqual(textOf(yield* send(proxy.url, { body: "y" })), "3 POST / y")
    })
  )
})

describe("the log", () => {
  it.live("is a file of lines: how it was started, every hit, every change", () =>
    Effect.gen(function* () {
      const path = join(yield* temporary, "faults.jsonl")
      const server = yield* Servers.http()
      const proxy = yield* only("balancer", server.url, { logFile: path, seed: 5 })
      yield* send(proxy.url, { path: "/orders?token=secret", body: "x", headers: { authorization: "Bearer secret" } })
      yield* proxy.change({ rate: 0 })
      yield* send(proxy.url, { body: "x" })
      const [start, hit, change, ...others] = linesOf(path)
      assert.deepInclude(start, { seed: 5 })
      assert.deepInclude(start?.settings, { rate: 1, kinds: ["balancer"] })
      assert.deepInclude(hit, { n: 2, connection: 1, target: "request", what: "POST /orders", kind: "balancer" })
      assert.match(String(hit?.how), /^answered with 50[234], (not )?delivered$/)
      assert.deepInclude(change?.settings, { rate: 0 })
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(yield* proxy.log, [hit] as unknown as ReadonlyArray<Faults.Entry>)
      yield* proxy.change({ rate: 1 })
      yield* send(proxy.url, { path: "http://me:secret@here/", body: "x" })
      assert.deepInclude(linesOf(path).at(-1), { what: "POST (no path)" })
      assert.notInclude(readFileSync(path, "utf8"), "secret")
    })
  )

  it.live("that cannot be written keeps the proxy from starting", () =>
    Effect.gen(function* () {
      const logFile = join(yield* temporary, "no", "such", "folder")
      const error = yield* Effect.flip(Faults.start({ upstreams: "http://127.0.0.1:1", logFile }))
      assert.match(error.message, /^cannot write the log .*folder: ENOENT/)
    })
  )
})

describe("a proxy", () => {
  it.live("says why it does not start", () =>
    Effect.gen(function* () {
      const { port } = yield* Faults.start({ upstreams: "http://127.0.0.1:1" })
      const errors = yield* Effect.all(
        [{ port }, { seed: 0.5 }, { seed: -1 }, { rate: 7 }, { host: "192.0.2.1" }].map((options) =>
          Effect.flip(Faults.start({ upstreams: "http://127.0.0.1:1", ...options }))
        )
      )
      const messages = errors.map(({ message }) => message)
      assert.match(messages[0] ?? "", new RegExp(`^127.0.0.1 port ${port} is in use`))
      assert.match(messages[1] ?? "", /^seed must be a whole number/)
      assert.match(messages[2] ?? "", /^seed must be a whole number/)
      assert.match(messages[3] ?? "", /^rate must be/)
      assert.match(messages[4] ?? "", /^cannot listen on 192\.0\.2\.1 port 0: EADDRNOTAVAIL/)
    })
  )

  it.live("is a service for as long as its layer is there", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(Faults.layer({ upstreams: server.url, rate: 0 }), scope)
      const { url } = Context.get(context, Faults.FaultProxy)
      assert.strictEqual(textOf(yield* send(url, { body: "x" })), "1 POST / x")
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* send(url), { _tag: "Failed", code: "ECONNREFUSED" })
    })
  )

  it.effect("keeps the machine's time, whatever clock the program runs on", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http()
      const proxy = yield* only("delay", server.url, { delayMs: 30 })
      assert.strictEqual(textOf(yield* send(proxy.url, { body: "x" })), "1 POST / x")
      yield* TestClock.adjust("1 day")
    })
  )

  it.live("ends at once, whatever it holds", () =>
    Effect.gen(function* () {
      const server = yield* Servers.http(() => undefined)
      const scope = yield* Scope.make()
      const long = 60_000
      const settings = { delayMs: long, halfOpenMs: long, lateMs: long, silentShare: 1, rate: 1, seed: 3 }
      const proxy = yield* Scope.provide(Faults.start({ upstreams: server.url, ...settings }), scope)
      yield* proxy.change({ kinds: ["delay", "half-open", "reorder", "drop-request", "drop-answer", "late-repeat"] })
      const clients = yield* Effect.forEach(Array.from({ length: 30 }), () => Effect.forkChild(send(proxy.url)))
      yield* Effect.repeat(proxy.counts, { until: ({ seen }) => seen.request === 30 })
      const before = performance.now()
      yield* Scope.close(scope, Exit.void)
      assert.isBelow(performance.now() - before, 5000)
      const outcomes = yield* Effect.forEach(clients, (client) => Fiber.join(client))
      assert.isTrue(outcomes.every(({ _tag }) => _tag === "Failed"))
    })
  )

  it.live(
    "leaves nothing behind: a program that used one ends by itself",
    () =>
      Effect.gen(function* () {
        const program = fileURLToPath(new URL("./support/once.ts", import.meta.url))
        const printed = yield* Effect.callback<string>((resume) => {
          execFile(process.execPath, ["--conditions=jobwire:source", program], { timeout: 60_000 }, (error, stdout) =>
            resume(error === null ? Effect.succeed(stdout) : Effect.die(error))
          )
        })
        const { afterMs, hits, left } = JSON.parse(printed)
        assert.deepStrictEqual(left, [])
        assert.isBelow(afterMs, 2000)
        // Of every kind there was some.
        assert.deepStrictEqual(
          Faults.kinds.filter((kind) => !(hits[kind] > 0)),
          []
        )
      }),
    90_000
  )
})

describe("a thousand connections", () => {
  it.live(
    "each get their own answers, over HTTP and WebSocket",
    () =>
      Effect.gen(function* () {
        const [http, sockets] = [
          yield* Servers.http(({ body }, response) => response.end(body)),
          yield* Servers.webSocket()
        ]
        const kinds = ["delay", "reorder", "half-open"] as const
        const options = { rate: 0.2, kinds, delayMs: 20, halfOpenMs: 20, seed: 1 }
        const posts = yield* Faults.start({ upstreams: http.url, ...options })
        const lines = yield* Faults.start({ upstreams: sockets.url, ...options })
        const all = Array.from({ length: 500 }, (_, at) => `mine ${at}`)
        const peers = yield* Effect.forEach(all, () => open(lines.url), { concurrency: 50 })
        const answers = yield* Effect.forEach(
          all,
          Effect.fnUntraced(function* (text, at) {
            const peer = peers[at]
            if (peer === undefined) return yield* Effect.die(new Error("there is no such peer"))
            const post = yield* Effect.forkChild(send(posts.url, { body: text }))
            peer.send(text)
            return [yield* peer.seen, textOf(yield* Fiber.join(post))] as const
          }),
          { concurrency: "unbounded" }
        )
        answers.forEach(([line, post], at) => {
          assert.deepStrictEqual(line, { _tag: "Message", text: `re: mine ${at}` })
          assert.strictEqual(post, `mine ${at}`)
        })
        const [posted, told] = [yield* posts.counts, yield* lines.counts]
        assert.deepInclude(posted.seen, { connection: 500, request: 500 })
        assert.deepInclude(told.seen, { connection: 500, upgrade: 500, "to-server": 500, "to-client": 500 })
        assert.strictEqual(posted.troubles + told.troubles, 0)
      }),
    120_000
  )
})
