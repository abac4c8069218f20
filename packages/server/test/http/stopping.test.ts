/** A server that stops: waits end, new work is refused, what runs is answered, sockets close, and all of it soon. */
import { assert, describe, it } from "@effect/vitest"
import { acked } from "@jobwire/protocol"
import { Deferred, Effect, Fiber } from "effect"
import { Agent, request } from "node:http"
import { connect } from "node:net"
import { defaultGrace, spreadOf } from "../../src/http/Drain.ts"
import { open, type Peer } from "./support/peer.ts"
import * as Stopwatch from "./support/stopwatch.ts"
import { call, errorOf, message, post, type RunningServer, start } from "./support/server.ts"
import { make } from "./support/stub-store.ts"

const wait = { queues: ["q"], wakeToken: "w" }
const claim = { options: { queue: "q", names: ["n"], token: "t", lockDurationMs: 1 } }
const claims = { options: { queue: "q", names: ["n"], tokens: ["t", "u"], lockDurationMs: 1 } }
const ack = { id: "j", token: "t", outcome: { _tag: "Cancelled" } }
const ids = Array.from({ length: 1000 }, (_, id) => id)

/** Stops the server and gives the milliseconds that took. */
const timedStop = (server: RunningServer, what: string) =>
  Effect.gen(function* () {
    const watch = Stopwatch.start()
    yield* server.stop
    const { own, wall } = watch()
    console.log(`${what}: stopped in ${own.toFixed(0)} ms (${wall.toFixed(0)} ms on a shared machine)`)
    return own
  })

/** A store with one slow operation, which ends when the test says so. */
const slowStore = Effect.gen(function* () {
  const entered = yield* Deferred.make<void>()
  const finish = yield* Deferred.make<void>()
  const store = make({
    removeSchedule: () => Effect.as(Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(finish)), true),
    claim: () => Effect.succeed({ _tag: "Empty", nextRunAt: undefined, wakeToken: "w" }),
    ack: () => Effect.void,
    ackMany: (acks) => Effect.succeed(acks.map(() => acked))
  })
  return { store, entered: Deferred.await(entered), finish: Deferred.succeed(finish, undefined) }
})

/** An HTTP client with one connection, which it keeps. */
const oneConnection = (server: RunningServer) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return (operation: string, payload: unknown) =>
    Effect.callback<{ readonly status: number; readonly connection: string | undefined; readonly body: string }>(
      (resume) => {
        const headers = { "content-type": "application/json" }
        const options = { agent, host: "127.0.0.1", port: server.port, path: "/v1/rpc", method: "POST", headers }
        const call = request(options, (response) => {
          let body = ""
          response.on("data", (chunk) => (body += String(chunk)))
          response.on("end", () =>
            resume(Effect.succeed({ status: response.statusCode ?? 0, connection: response.headers.connection, body }))
          )
        })
        call.end(JSON.stringify(message(operation, payload)))
      }
    )
}

/** Parks a wait on a connection of its own, and gives all that the server sent until it closed the connection. */
const parkOnConnection = (server: RunningServer) =>
  Effect.callback<string>((resume) => {
    const body = JSON.stringify(message("awaitWake", wait))
    const socket = connect(server.port, "127.0.0.1")
    let answer = ""
    socket.setEncoding("utf8")
    socket.on("data", (text) => (answer += String(text)))
    socket.on("close", () => resume(Effect.succeed(answer)))
    socket.write(
      `POST /v1/rpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`
    )
  })

interface Unavailable {
  readonly _tag: string
  readonly sent: boolean
  readonly retryAfterMs: number
}

/** When the answers of a peer come, in milliseconds since this. */
const answerTimes = (peer: Peer): ReadonlyArray<number> => {
  const times: Array<number> = []
  const since = performance.now()
  peer.socket.on("message", (frame) => {
    const at = performance.now() - since
    for (const line of String(frame).split("\n")) if (line !== "") times.push(at)
  })
  return times
}

describe("a server that stops", () => {
  it("spreads waits over a millisecond each, over a second and half the grace at most", () => {
    assert.strictEqual(spreadOf(0, 5000), 0)
    assert.strictEqual(spreadOf(10, 5000), 10)
    assert.strictEqual(spreadOf(10_000, 5000), 1000)
    assert.strictEqual(spreadOf(10_000, 300), 150)
    assert.strictEqual(defaultGrace, "5 seconds")
  })

  it.live("ends waits that share few sockets spread out in time, with success, in under two seconds", () =>
    Effect.gen(function* () {
      const store = make()
      const server = yield* start(store.service)
      const peers = yield* Effect.all([open(server), open(server), open(server), open(server)])
      for (const peer of peers) peer.send(...ids.slice(0, 500).map((id) => message("awaitWake", wait, id)))
      yield* store.parkedIs(2000)
      const times = peers.map(answerTimes)
      const took = yield* timedStop(server, "2000 waits on four sockets")
      for (const peer of peers) {
        for (const id of ids.slice(0, 500)) assert.strictEqual((yield* peer.exitOf(id))._tag, "Success")
        assert.strictEqual(yield* peer.closed, 1001)
      }
      assert.isBelow(took, 2000)
      // Drawn from a second, the share that has come is never far beyond the share of the second; a busy machine only makes it less.
      const all = times.flat().toSorted((one, other) => one - other)
      assert.lengthOf(all, 2000)
      for (const [at, time] of all.entries()) assert.isAbove(time, at / 2 - 100, `the ${at}th answer`)
    })
  )

  it.live("ends a thousand waits on a socket with success, in under two seconds", () =>
    Effect.gen(function* () {
      const store = make()
      const server = yield* start(store.service)
      const peer = yield* open(server)
      peer.send(...ids.map((id) => message("awaitWake", wait, id)))
      yield* store.parkedIs(1000)
      const took = yield* timedStop(server, "1000 waits on a socket")
      for (const id of ids) assert.strictEqual((yield* peer.exitOf(id))._tag, "Success")
      assert.strictEqual(yield* peer.closed, 1001)
      assert.isBelow(took, 2000)
    })
  )

  it.live("ends a thousand waits over HTTP with success, in under two seconds", () =>
    Effect.gen(function* () {
      const store = make()
      const server = yield* start(store.service)
      const waits = yield* Effect.forkChild(
        Effect.all(
          ids.map(() => parkOnConnection(server)),
          { concurrency: "unbounded" }
        )
      )
      yield* store.parkedIs(1000)
      const took = yield* timedStop(server, "1000 waits over HTTP")
      const answers = yield* Fiber.join(waits)
      const ended = answers.filter(
        (answer) => answer.startsWith("HTTP/1.1 200") && answer.includes('"exit":{"_tag":"Success"')
      )
      assert.strictEqual(ended.length, 1000)
      assert.isBelow(took, 2000)
    })
  )

  it.live("answers what runs, hands out no more jobs, takes acks where it is connected, and refuses newcomers", () =>
    Effect.gen(function* () {
      const { entered, finish, store } = yield* slowStore
      const server = yield* start(store.service)
      const http = oneConnection(server)
      assert.strictEqual((yield* http("claim", claim)).status, 200)
      const peer = yield* open(server)
      peer.send(message("claim", claim, "before"), message("awaitWake", wait, "wait"))
      assert.strictEqual((yield* peer.exitOf("before"))._tag, "Success")
      peer.send(message("removeSchedule", { key: "k" }, "slow"))
      yield* entered
      const stop = yield* Effect.forkChild(server.stop)
      assert.strictEqual((yield* peer.exitOf("wait"))._tag, "Success")

      peer.send(message("claim", claim, "claim"), message("claimMany", claims, "claims"))
      peer.send(message("ack", ack, "ack"), message("ackMany", { acks: [ack] }, "acks"))
      peer.send(message("awaitWake", wait, "again"))
      for (const id of ["claim", "claims"]) {
        const refusal = errorOf(yield* peer.exitOf(id))
        assert.deepInclude(refusal, { _tag: "JobStoreError" })
        const { reason } = refusal as { readonly reason: Unavailable }
        assert.deepInclude(reason, { _tag: "Unavailable", sent: false })
        assert.isTrue(reason.retryAfterMs >= 0 && reason.retryAfterMs <= 1000, `${reason.retryAfterMs}`)
      }
      assert.strictEqual((yield* peer.exitOf("ack"))._tag, "Success")
      assert.strictEqual((yield* peer.exitOf("acks"))._tag, "Success")
      assert.strictEqual((yield* peer.exitOf("again"))._tag, "Success")

      const acked = yield* http("ack", ack)
      assert.deepInclude(acked, { status: 200, connection: "close" })
      const newcomer = yield* post(server, message("ack", ack))
      assert.strictEqual(newcomer.status, 503)
      assert.isNotNull(newcomer.headers.get("retry-after"))
      assert.strictEqual(yield* Effect.flip(open(server)), 503)
      const ready = yield* Effect.promise(() => fetch(`${server.url}/readyz`))
      assert.strictEqual(ready.status, 503)
      assert.strictEqual((yield* Effect.promise(() => fetch(`${server.url}/livez`))).status, 200)

      yield* finish
      assert.deepStrictEqual(yield* peer.exitOf("slow"), { _tag: "Success", value: true })
      assert.strictEqual(yield* peer.closed, 1001)
      yield* Fiber.join(stop)
      const gone = yield* Effect.exit(Effect.tryPromise(() => fetch(`${server.url}/livez`)))
      assert.strictEqual(gone._tag, "Failure")
    })
  )

  it.live("answers what runs over HTTP", () =>
    Effect.gen(function* () {
      const { entered, finish, store } = yield* slowStore
      const server = yield* start(store.service)
      const slow = yield* Effect.forkChild(call(server, "removeSchedule", { key: "k" }))
      yield* entered
      const stop = yield* Effect.forkChild(server.stop, { startImmediately: true })
      yield* finish
      assert.deepStrictEqual(yield* Fiber.join(slow), { _tag: "Success", value: true })
      yield* Fiber.join(stop)
    })
  )

  it.live("cuts what does not end within the grace, and interrupts it", () =>
    Effect.gen(function* () {
      const interrupted = yield* Deferred.make<void>()
      const { entered, store } = yield* slowStore
      const stuck: typeof store.service.pause = () =>
        Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined))
      const server = yield* start({ ...store.service, pause: stuck }, { grace: "200 millis" })
      const peer = yield* open(server)
      const http = yield* Effect.forkChild(Effect.exit(Effect.sandbox(call(server, "removeSchedule", { key: "k" }))))
      peer.send(message("pause", { queue: "q" }))
      yield* entered
      const took = yield* timedStop(server, "calls that do not end")
      assert.isAtLeast(took, 190)
      assert.isBelow(took, 2000)
      assert.strictEqual(yield* peer.closed, 1001)
      yield* Deferred.await(interrupted)
      assert.strictEqual((yield* Fiber.join(http))._tag, "Failure")
    })
  )

  it.live("waits for no peer that does not do its part of the close", () =>
    Effect.gen(function* () {
      const server = yield* start(make().service)
      const deaf = yield* open(server)
      deaf.socket.pause()
      const half = connect(server.port, "127.0.0.1")
      half.on("error", () => undefined)
      half.write(
        "POST /v1/rpc HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"
      )
      const silent = connect(server.port, "127.0.0.1")
      silent.on("error", () => undefined)
      // The server has seen both once it has answered a third.
      yield* call(server, "pausedQueues")
      const took = yield* timedStop(server, "peers that do not close")
      assert.isBelow(took, 2500)
      half.destroy()
      silent.destroy()
    })
  )
})
