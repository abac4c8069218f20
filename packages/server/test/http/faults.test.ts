/** A fault in one call, one message or one peer harms no other. */
import { assert, describe, it } from "@effect/vitest"
import { Wire } from "@jobwire/protocol"
import { Effect } from "effect"
import { connect } from "node:net"
import { open } from "./support/peer.ts"
import { call, errorOf, message, post, start } from "./support/server.ts"
import { make } from "./support/stub-store.ts"

const faulty = make({
  getJob: () => Effect.die(new Error("the disk is on fire")),
  pausedQueues: () => Effect.succeed(["a"]),
  removeSchedule: () => Effect.interrupt
}).service

describe("a fault", () => {
  it.live("in one call is an error of that call alone, on a socket", () =>
    Effect.gen(function* () {
      const server = yield* start(faulty)
      const peer = yield* open(server)
      peer.send(message("awaitWake", { queues: ["q"], wakeToken: "w" }, "wait"))
      peer.send(message("getJob", { id: "x" }, "fault"), message("pausedQueues", {}, "good"))
      const fault = errorOf(yield* peer.exitOf("fault"))
      assert.deepInclude(fault, { _tag: "JobStoreError", reason: { _tag: "Defect" } })
      assert.notInclude(JSON.stringify(fault), "disk")
      assert.deepStrictEqual(yield* peer.exitOf("good"), { _tag: "Success", value: ["a"] })
      peer.send({ _tag: "Interrupt", requestId: "wait" })
      assert.include(JSON.stringify(yield* peer.exitOf("wait")), "Interrupt")
    })
  )

  it.live("that cuts a call short is an error that says so, and no interruption of the caller", () =>
    Effect.gen(function* () {
      const server = yield* start(faulty)
      const error = errorOf(yield* call(server, "removeSchedule", { key: "k" }))
      assert.deepInclude(error, { _tag: "JobStoreError", reason: { _tag: "Unavailable", sent: true } })
    })
  )

  it.live("in a message is an error of its call: an unknown operation, a payload of another shape, no tag", () =>
    Effect.gen(function* () {
      const server = yield* start(faulty)
      const peer = yield* open(server)
      peer.send(message("abracadabra", {}, "unknown"), message("getJob", { id: 7 }, "shape"))
      peer.send({ _tag: "Request", id: "tagless" }, message("pausedQueues", {}, "good"))
      assert.include(JSON.stringify(yield* peer.exitOf("unknown")), "abracadabra")
      assert.include(JSON.stringify(yield* peer.exitOf("shape")), "JobId")
      assert.include(JSON.stringify(yield* peer.exitOf("tagless")), "tag")
      assert.strictEqual((yield* peer.exitOf("good"))._tag, "Success")
    })
  )

  it.live("in a message that names no call closes the socket of its sender only", () =>
    Effect.gen(function* () {
      const server = yield* start(faulty)
      const bystander = yield* open(server)
      for (const [text, code] of [
        ["{not json\n", 1007],
        ["null\n", 1008],
        ['{"_tag":"Request"}\n', 1008],
        ['{"_tag":"Request","id":1e400,"tag":"pausedQueues","payload":{}}\n', 1008],
        ['{"_tag":"Teapot","id":1}\n', 1008]
      ] as const) {
        const peer = yield* open(server)
        peer.socket.send(text)
        assert.strictEqual(yield* peer.closed, code, text)
      }
      bystander.send(message("pausedQueues"))
      assert.strictEqual((yield* bystander.exitOf(1))._tag, "Success")
    })
  )

  it.live("that makes an answer too long to send is an error of that call alone, on both transports", () =>
    Effect.gen(function* () {
      const half = "é".repeat(Wire.maxAnswerBytes / 4)
      const whole = [half, half]
      const server = yield* start(make({ pausedQueues: () => Effect.succeed(whole) }).service)
      const peer = yield* open(server)
      peer.send(message("awaitWake", { queues: ["q"], wakeToken: "w" }, "wait"), message("pausedQueues", {}, "long"))
      const tooLong = { _tag: "JobStoreError", reason: { _tag: "Defect" } }
      assert.deepInclude(errorOf(yield* peer.exitOf("long")), tooLong)
      assert.deepInclude(errorOf(yield* call(server, "pausedQueues", {})), tooLong)
      whole.pop()
      assert.deepStrictEqual(yield* call(server, "pausedQueues", {}), { _tag: "Success", value: [half] })
      peer.send({ _tag: "Interrupt", requestId: "wait" })
      assert.include(JSON.stringify(yield* peer.exitOf("wait")), "Interrupt")
    })
  )

  it.live("in the encoding is refused: bytes that are no UTF-8 are not replaced by something else", () =>
    Effect.gen(function* () {
      const server = yield* start(faulty)
      const bytes = Buffer.from(JSON.stringify(message("getJob", { id: "a?" })))
      bytes[bytes.indexOf("?")] = 0xff
      const response = yield* post(server, bytes)
      assert.strictEqual(response.status, 400)
      assert.include(yield* Effect.promise(() => response.text()), "The body is not UTF-8.")
      const peer = yield* open(server)
      peer.socket.send(Buffer.concat([bytes, Buffer.from("\n")]))
      assert.strictEqual(yield* peer.closed, 1007)
    })
  )

  it.live("in a body is a problem document", () =>
    Effect.gen(function* () {
      const server = yield* start(faulty)
      const good = message("pausedQueues")
      for (const body of ["", "{", "7", { _tag: "Ping" }, [good, good], { _tag: "Request", id: {} }]) {
        const response = yield* post(server, body)
        assert.strictEqual(response.status, 400, JSON.stringify(body))
        assert.strictEqual(response.headers.get("content-type"), "application/problem+json")
      }
    })
  )

  it.live("of a call with an id in use closes the socket", () =>
    Effect.gen(function* () {
      const server = yield* start(faulty)
      const peer = yield* open(server)
      const wait = message("awaitWake", { queues: ["q"], wakeToken: "w" }, 7)
      peer.send(wait, wait)
      assert.strictEqual(yield* peer.closed, 1008)
    })
  )

  it.live("in a handshake costs its sender the connection", () =>
    Effect.gen(function* () {
      const server = yield* start(faulty)
      const handshake = (lines: ReadonlyArray<string>) =>
        Effect.callback<string>((resume) => {
          const socket = connect(server.port, "127.0.0.1")
          socket.setEncoding("utf8")
          socket.once("data", (text) => resume(Effect.succeed(String(text).split("\r\n")[0] ?? "")))
          socket.on("error", () => undefined)
          socket.write(
            ["GET /v1/rpc HTTP/1.1", "host: localhost", "connection: upgrade", ...lines, "", ""].join("\r\n")
          )
          return Effect.sync(() => socket.destroy())
        })
      const upgrade = "upgrade: websocket"
      const key = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="
      assert.include(yield* handshake([upgrade, key, "sec-websocket-version: 13"]), "101")
      assert.include(yield* handshake([upgrade, key, "sec-websocket-version: 7"]), "400")
      assert.include(yield* handshake([upgrade, "sec-websocket-version: 13"]), "400")
      assert.include(yield* handshake(["upgrade: h2c"]), "426")
      assert.strictEqual((yield* call(server, "pausedQueues"))._tag, "Success")
    })
  )
})
