/** Messages that are too big, and that nobody but their sender notices. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "node:http"
import { open } from "./support/peer.ts"
import { call, message, post, problemOf, type RunningServer, start } from "./support/server.ts"
import { make } from "./support/stub-store.ts"

const store = make({ pausedQueues: () => Effect.succeed([]), removeSchedule: () => Effect.succeed(true) }).service

/** The message of a call with that many bytes. */
const messageOf = (bytes: number): string => {
  const empty = JSON.stringify(message("removeSchedule", { key: "" }))
  return JSON.stringify(message("removeSchedule", { key: "x".repeat(bytes - empty.length) }))
}

/** Sends a body in chunks, without saying how long it is. */
const postInChunks = (server: RunningServer, chunks: ReadonlyArray<string>) =>
  Effect.callback<number>((resume) => {
    const headers = { "content-type": "application/json" }
    const call = request(
      { port: server.port, host: "127.0.0.1", path: "/v1/rpc", method: "POST", headers },
      (response) => {
        response.resume()
        resume(Effect.succeed(response.statusCode ?? 0))
      }
    )
    // The server may close its side once it has answered.
    call.on("error", () => undefined)
    for (const chunk of chunks) call.write(chunk)
    call.end()
  })

/** Says that a body of that many bytes will come, and sends none. */
const announce = (server: RunningServer, bytes: number) =>
  Effect.callback<number>((resume) => {
    const headers = { "content-type": "application/json", "content-length": bytes }
    const call = request(
      { port: server.port, host: "127.0.0.1", path: "/v1/rpc", method: "POST", headers },
      (response) => {
        response.resume()
        resume(Effect.succeed(response.statusCode ?? 0))
      }
    )
    call.on("error", () => undefined)
    call.flushHeaders()
    return Effect.sync(() => call.destroy())
  })

describe("a body over the limit", () => {
  it.live("is refused by a problem that names the limit, and one at the limit is not", () =>
    Effect.gen(function* () {
      const server = yield* start(store, { maxMessageBytes: 100_000 })
      assert.strictEqual((yield* post(server, messageOf(100_000))).status, 200)
      const problem = yield* problemOf(yield* post(server, messageOf(100_001)))
      assert.strictEqual(problem.status, 413)
      assert.strictEqual(problem.type, "application/problem+json")
      assert.strictEqual(problem.body.limit, 100_000)
      assert.include(String(problem.body.detail), "100000")
    })
  )

  it.live("is refused while it comes, when its length is not told", () =>
    Effect.gen(function* () {
      const server = yield* start(store, { maxMessageBytes: 100_000 })
      const chunk = "x".repeat(50_000)
      assert.strictEqual(yield* postInChunks(server, [chunk, chunk, chunk]), 413)
      assert.strictEqual(
        yield* postInChunks(
          server,
          Array.from({ length: 40 }, () => chunk)
        ),
        413
      )
      assert.strictEqual(yield* postInChunks(server, ["[]", " ".repeat(1000)]), 200)
    })
  )

  it.live("is refused by what its head says, before it is sent; the limit is a little below 16 MiB unless given", () =>
    Effect.gen(function* () {
      const server = yield* start(store)
      assert.strictEqual(yield* announce(server, 16 * 1024 * 1024), 413)
    })
  )

  it.live("harms no call beside it and none after it", () =>
    Effect.gen(function* () {
      const server = yield* start(store, { maxMessageBytes: 1024 * 1024 })
      const huge = "x".repeat(4 * 1024 * 1024)
      const small = Effect.map(call(server, "pausedQueues"), (exit) => exit._tag)
      const answers = yield* Effect.all(
        Array.from({ length: 40 }, (_, index) =>
          index % 10 === 5 ? Effect.map(post(server, huge), (response) => response.status) : small
        ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        answers,
        Array.from({ length: 40 }, (_, index) => (index % 10 === 5 ? 413 : "Success"))
      )
      assert.strictEqual(yield* small, "Success")
    })
  )
})

describe("a frame over the limit", () => {
  it.live("closes the socket of its sender with 1009, and one at the limit does not", () =>
    Effect.gen(function* () {
      const server = yield* start(store, { maxMessageBytes: 100_000 })
      const bystander = yield* open(server)
      const peer = yield* open(server)
      peer.socket.send(messageOf(100_000))
      assert.deepStrictEqual(yield* peer.exitOf(1), { _tag: "Success", value: true })
      peer.socket.send(messageOf(100_001))
      assert.strictEqual(yield* peer.closed, 1009)
      bystander.send(message("pausedQueues"))
      assert.strictEqual((yield* bystander.exitOf(1))._tag, "Success")
    })
  )
})

describe("a peer that does not read", () => {
  it.live("is not read from either, so its answers do not pile up", () =>
    Effect.gen(function* () {
      const page = ["x".repeat(1024 * 1024)]
      let calls = 0
      const server = yield* start(make({ pausedQueues: () => Effect.sync(() => (calls++, page)) }).service)
      const peer = yield* open(server)
      const reader = yield* open(server)
      peer.socket.pause()
      for (let id = 0; id < 60; id++) peer.send(message("pausedQueues", {}, id))
      // Each answer that the other peer gets shows that the server had time for more.
      for (let id = 0; id < 20; id++) {
        reader.send(message("pausedQueues", {}, id))
        yield* reader.exitOf(id)
      }
      assert.isBelow(calls - 20, 50)
      peer.socket.resume()
      yield* peer.exitOf(59)
      assert.strictEqual(calls, 80)
    })
  )
})
