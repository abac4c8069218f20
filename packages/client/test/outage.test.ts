/** A server that goes away and comes back: which calls wait, which fail, and which are asked again. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Queue } from "effect"
import { stubStore } from "../../../test/support/stub-store.ts"
import { errorOf, serve, sockets, ways } from "./support/jobwire.ts"
import { accepting, freePort, messagesIn } from "./support/misbehaving.ts"

const counted = { waiting: 1, delayed: 0, active: 0, "waiting-children": 0, completed: 0, failed: 0, cancelled: 0 }
const counting = stubStore({ counts: () => Effect.succeed(counted) })

/** A store whose waits and counts last until the test ends them, each seen as it begins. */
const parking = Effect.gen(function* () {
  const begun = yield* Queue.unbounded<string>()
  const end = yield* Deferred.make<void>()
  const store = stubStore({
    awaitWake: (queues, token) =>
      Effect.andThen(Queue.offer(begun, `wait ${queues.join()} ${token}`), Deferred.await(end)),
    counts: () => Effect.andThen(Queue.offer(begun, "counts"), Effect.as(Deferred.await(end), counted))
  })
  return { store, begun: Queue.take(begun), end: Deferred.succeed(end, undefined) }
})

describe.each(ways)("over $name", ({ make }) => {
  it.live("a call made before the server is there waits for it", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      const store = yield* make({ url: `http://127.0.0.1:${port}` })
      const call = yield* Effect.forkChild(store.counts(), { startImmediately: true })
      // The call has found nobody by now, or is about to: a try in vain needs no time at all on this machine.
      yield* errorOf((yield* make({ url: `http://127.0.0.1:${port}`, outageTimeout: 50 })).counts())
      yield* serve(counting, { port })
      assert.deepStrictEqual(yield* Fiber.join(call), counted)
    })
  )

  it.live("a call made after the server was restarted on its port succeeds", () =>
    Effect.gen(function* () {
      const first = yield* serve(counting)
      const store = yield* make({ url: first.url })
      yield* store.counts()
      yield* first.stop
      const call = yield* Effect.forkChild(store.counts(), { startImmediately: true })
      yield* serve(counting, { port: first.port })
      assert.deepStrictEqual(yield* Fiber.join(call), counted)
      assert.deepStrictEqual(yield* store.counts(), counted)
    })
  )

  it.live("a call that the server did not end before it stopped may have happened", () =>
    Effect.gen(function* () {
      const { begun, store: parked } = yield* parking
      const server = yield* serve(parked)
      const store = yield* make({ url: server.url })
      const call = yield* Effect.forkChild(errorOf(store.counts()), { startImmediately: true })
      assert.strictEqual(yield* begun, "counts")
      yield* server.stop
      const error = yield* Fiber.join(call)
      assert.deepInclude(error.reason, { _tag: "Unavailable", sent: true })
      assert.isTrue(error.mayHaveHappened)
    })
  )

  it.live("a wait ends when the server stops, as its taker looks again then", () =>
    Effect.gen(function* () {
      const { begun, store: parked } = yield* parking
      const server = yield* serve(parked)
      const store = yield* make({ url: server.url })
      const wait = yield* Effect.forkChild(store.awaitWake(["q"], "t1"), { startImmediately: true })
      assert.strictEqual(yield* begun, "wait q t1")
      yield* server.stop
      yield* Fiber.join(wait)
    })
  )

  it.live("a call while the server is gone fails after the outage time, and was not made", () =>
    Effect.gen(function* () {
      const server = yield* serve(counting)
      const store = yield* make({ url: server.url, outageTimeout: 200 })
      yield* store.counts()
      yield* server.stop
      const errors = yield* Effect.all([errorOf(store.counts()), errorOf(store.awaitWake(["q"], "t"))], {
        concurrency: 2
      })
      for (const error of errors) {
        assert.deepInclude(error.reason, { _tag: "Unavailable", sent: false })
        assert.isTrue(error.isRetryable)
      }
    })
  )
})

describe.each(sockets)("over $name", ({ make }) => {
  /** A server that takes each connection as the test says, and tells of every call. */
  const scripted = Effect.fnUntraced(function* (port: number) {
    const calls = yield* Queue.unbounded<{
      readonly connection: number
      readonly tag: string
      readonly payload: unknown
    }>()
    const open = new Map<number, { readonly cut: () => void; readonly answer: (tag: string) => void }>()
    let connections = 0
    const url = yield* accepting((socket) => {
      const connection = ++connections
      const ids = new Map<string, string>()
      open.set(connection, {
        cut: () => socket.terminate(),
        answer: (tag) => {
          const exit = { _tag: "Success", value: null }
          socket.send(`${JSON.stringify({ _tag: "Exit", requestId: ids.get(tag), exit })}\n`)
        }
      })
      socket.on("message", (data) => {
        for (const message of messagesIn(data)) {
          if (message._tag !== "Request") continue
          ids.set(message.tag, message.id)
          Queue.offerUnsafe(calls, { connection, tag: message.tag, payload: message.payload })
        }
      })
    }, port)
    return { url, call: Queue.take(calls), on: (connection: number) => open.get(connection) }
  })

  it.live("a wait whose connection is cut is asked again on the next, with the same token", () =>
    Effect.gen(function* () {
      const server = yield* scripted(0)
      const store = yield* make({ url: server.url })
      const wait = yield* Effect.forkChild(store.awaitWake(["a", "b"], "token"), { startImmediately: true })
      for (const connection of [1, 2, 3]) {
        assert.deepStrictEqual(yield* server.call, {
          connection,
          tag: "awaitWake",
          payload: { queues: ["a", "b"], wakeToken: "token" }
        })
        if (connection < 3) server.on(connection)?.cut()
      }
      server.on(3)?.answer("awaitWake")
      yield* Fiber.join(wait)
    })
  )

  it.live("of the calls in flight on a connection that is cut, all but waits fail, and none is sent again", () =>
    Effect.gen(function* () {
      const server = yield* scripted(0)
      const store = yield* make({ url: server.url })
      const wait = yield* Effect.forkChild(store.awaitWake(["q"], "t"), { startImmediately: true })
      const call = yield* Effect.forkChild(errorOf(store.pause("q")), { startImmediately: true })
      assert.deepStrictEqual([(yield* server.call).tag, (yield* server.call).tag], ["awaitWake", "pause"])
      server.on(1)?.cut()
      assert.deepInclude((yield* Fiber.join(call)).reason, { _tag: "Unavailable", sent: true })
      assert.deepInclude(yield* server.call, { connection: 2, tag: "awaitWake" })
      const after = yield* Effect.forkChild(store.resume("q"), { startImmediately: true })
      assert.deepInclude(yield* server.call, { connection: 2, tag: "resume" })
      server.on(2)?.answer("resume")
      server.on(2)?.answer("awaitWake")
      yield* Fiber.join(after)
      yield* Fiber.join(wait)
    })
  )

  it.live("a connection that ends as soon as it opens is not made again in haste", () =>
    Effect.gen(function* () {
      let connections = 0
      const url = yield* accepting((socket) => {
        connections++
        socket.close(1008, "go away")
      })
      const store = yield* make({ url, outageTimeout: 1_000 })
      yield* errorOf(Effect.forever(Effect.retry(store.counts(), { while: ({ mayHaveHappened }) => mayHaveHappened })))
      // At most 0.1, 0.2, 0.4, … seconds apart, and half of it on average.
      assert.isAtMost(connections, 30)
    })
  )
})
