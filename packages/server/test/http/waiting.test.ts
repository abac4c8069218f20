/** Waits: held as long as they may be, and gone with their caller. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { holdFor, preferredSeconds } from "../../src/http/Hold.ts"
import { open } from "./support/peer.ts"
import { call, message, type RunningServer, start } from "./support/server.ts"
import { make } from "./support/stub-store.ts"

const wait = { queues: ["q"], wakeToken: "w" }
const success = { _tag: "Success", value: null } as const

/** A process with that many waits, which is killed when the scope closes. */
const parkedClient = (server: RunningServer, transport: string, count: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const script = fileURLToPath(new URL("support/parked-client.ts", import.meta.url))
      return spawn(process.execPath, [script, transport, String(server.port), String(count)], { stdio: "ignore" })
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )

describe("a wait", () => {
  it.live("ends when the store wakes it, on both transports", () =>
    Effect.gen(function* () {
      const wake = yield* Deferred.make<void>()
      const seen: Array<unknown> = []
      const server = yield* start(
        make({
          awaitWake: (...args) =>
            Effect.andThen(
              Effect.sync(() => seen.push(args)),
              Deferred.await(wake)
            )
        }).service
      )
      const peer = yield* open(server)
      peer.send(message("awaitWake", wait))
      const http = yield* Effect.forkChild(call(server, "awaitWake", wait))
      yield* Deferred.succeed(wake, undefined)
      assert.deepInclude(yield* peer.exitOf(1), { _tag: "Success" })
      assert.deepInclude(yield* Fiber.join(http), { _tag: "Success" })
      assert.deepStrictEqual(seen, [
        [["q"], "w"],
        [["q"], "w"]
      ])
    })
  )

  for (const transport of ["websocket", "http"]) {
    it.live(`by ${transport} is freed when the process that waits is killed`, () =>
      Effect.gen(function* () {
        const store = make()
        const server = yield* start(store.service)
        const client = yield* parkedClient(server, transport, 100)
        yield* store.parkedIs(100)
        client.kill("SIGKILL")
        yield* store.parkedIs(0)
      })
    )
  }

  it.live("is freed when its caller interrupts it: a message on a socket, an abort over HTTP", () =>
    Effect.gen(function* () {
      const store = make()
      const server = yield* start(store.service)
      const peer = yield* open(server)
      peer.send(message("awaitWake", wait, "a"), message("awaitWake", wait, "b"))
      yield* store.parkedIs(2)
      peer.send({ _tag: "Interrupt", requestId: "a" })
      yield* store.parkedIs(1)
      const http = yield* Effect.forkChild(call(server, "awaitWake", wait))
      yield* store.parkedIs(2)
      yield* Fiber.interrupt(http)
      yield* store.parkedIs(1)
      peer.socket.close()
      yield* store.parkedIs(0)
    })
  )

  it.live("is held over HTTP as long as the server holds, or less when the client asks, and ends as a success", () =>
    Effect.gen(function* () {
      const store = make()
      const server = yield* start(store.service, { hold: "1200 millis" })
      const timed = (prefer?: string) =>
        Effect.gen(function* () {
          const began = performance.now()
          const exit = yield* call(server, "awaitWake", wait, prefer === undefined ? {} : { prefer })
          assert.deepStrictEqual(exit, success)
          return performance.now() - began
        })
      const [plain, less, none, more, nonsense] = yield* Effect.all(
        [timed(), timed("wait=1"), timed("respond-async, wait=0"), timed("wait=3600"), timed("wait=0.5")],
        { concurrency: "unbounded" }
      )
      for (const time of [plain, more, nonsense]) assert.isAtLeast(time, 1150)
      assert.isAtLeast(less, 950)
      assert.isBelow(less, plain)
      assert.isBelow(none, less)
      assert.strictEqual(store.parked(), 0)
    })
  )

  it.live("is not bounded on a socket", () =>
    Effect.gen(function* () {
      const store = make()
      const server = yield* start(store.service, { hold: "10 millis" })
      const peer = yield* open(server)
      peer.send(message("awaitWake", wait))
      yield* store.parkedIs(1)
      yield* call(server, "awaitWake", wait)
      yield* call(server, "awaitWake", wait)
      assert.strictEqual(store.parked(), 1)
    })
  )
})

describe("the preference of a client", () => {
  it("is read strictly, and ignored when it cannot be read", () => {
    const cases: ReadonlyArray<readonly [string | undefined, number | undefined]> = [
      [undefined, undefined],
      ["wait=10", 10],
      ["Wait=10", 10],
      ["wait = 10", 10],
      ['wait="10"', 10],
      ["respond-async,wait=7;foo=bar", 7],
      ["wait=0", 0],
      ["wait=10s", undefined],
      ["wait=-1", undefined],
      ["wait=1e3", undefined],
      ["wait=0x10", undefined],
      ["wait=", undefined],
      ["wait", undefined],
      ["wait=10 20", undefined],
      ["waiting=10", undefined],
      ["wait=99999999999", undefined]
    ]
    for (const [header, seconds] of cases) assert.strictEqual(preferredSeconds(header), seconds, String(header))
    assert.strictEqual(holdFor("wait=3", 25_000), 3000)
    assert.strictEqual(holdFor("wait=60", 25_000), 25_000)
    assert.strictEqual(holdFor(undefined, 25_000), 25_000)
  })
})

describe("the clocks", () => {
  it.effect("are the test's for jobs, and the machine's for the network", () =>
    Effect.gen(function* () {
      const store = make({ pausedQueues: () => Effect.map(Clock.currentTimeMillis, (now) => [String(now)]) })
      const server = yield* start(store.service)
      const peer = yield* open(server)
      peer.send(message("awaitWake", wait, "parked"))
      const http = yield* Effect.forkChild(call(server, "awaitWake", wait))
      yield* store.parkedIs(2)
      yield* TestClock.adjust("1 hour")
      peer.send(message("pausedQueues", {}, "now"))
      assert.deepStrictEqual(yield* peer.exitOf("now"), { _tag: "Success", value: ["3600000"] })
      assert.deepStrictEqual(yield* call(server, "pausedQueues"), { _tag: "Success", value: ["3600000"] })
      assert.strictEqual(store.parked(), 2)
      yield* Fiber.interrupt(http)
      yield* store.parkedIs(1)
    })
  )
})
