/** Answers that are none: cut, garbled, missing, late, or of another shape than the operation's. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { errorOf, posts, sockets, wide } from "./support/jobwire.ts"
import { accepting, answering, answeringWith, messagesIn, tcp } from "./support/misbehaving.ts"

const mayHaveHappened = (error: { readonly mayHaveHappened: boolean }) => assert.isTrue(error.mayHaveHappened)

const exitOf = (requestId: string, exit: unknown) => JSON.stringify({ _tag: "Exit", requestId, exit })

/** The id of the call in the body of a POST, whatever the rest is. */
const idIn = (body: string): string => JSON.parse(body).id

/** A server that replies to the POST of a call so. */
const replying = (reply: (id: string) => string) =>
  answering((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += chunk))
    request.on("end", () => response.end(reply(idIn(body))))
  })

/** A socket that answers the first call by the given frames, and later ones not at all. */
const answeringCalls = (frames: (id: string) => ReadonlyArray<string>) =>
  accepting((socket) => {
    socket.on("message", (data) => {
      for (const { _tag, id } of messagesIn(data)) {
        if (_tag === "Request") for (const frame of frames(id)) socket.send(frame)
      }
    })
  })

describe.each(posts)("over $name", ({ make }) => {
  const failureAt = Effect.fnUntraced(function* (url: string) {
    const store = yield* make({ url, callTimeout: 300, outageTimeout: 300 })
    return yield* errorOf(store.counts())
  })

  it.live("text that is not JSON, an empty body, an answer to another call: Defect", () =>
    Effect.gen(function* () {
      for (const body of ["<html>hello</html>", "", "[]", "null", "{}", `[${exitOf("other", { _tag: "Success" })}]`]) {
        const error = yield* failureAt(yield* answeringWith(200, body))
        assert.deepStrictEqual(error.reason, { _tag: "Defect" }, body)
        assert.include(error.message, "counts")
        mayHaveHappened(error)
      }
    })
  )

  it.live("a result that is not the operation's: Defect", () =>
    Effect.gen(function* () {
      const error = yield* failureAt(yield* replying((id) => exitOf(id, { _tag: "Success", value: "many" })))
      assert.deepStrictEqual(error.reason, { _tag: "Defect" })
    })
  )

  it.live("a defect of the server: Defect, with its words", () =>
    Effect.gen(function* () {
      const exit = { _tag: "Failure", cause: [{ _tag: "Die", defect: { name: "Error", message: "boom" } }] }
      const error = yield* failureAt(yield* replying((id) => exitOf(id, exit)))
      assert.deepStrictEqual(error.reason, { _tag: "Defect" })
      assert.include(error.message, "boom")
      assert.include(error.message, "counts")
    })
  )

  it.live("a call that the server gave up: Unavailable, and it may have happened", () =>
    Effect.gen(function* () {
      const exit = { _tag: "Failure", cause: [{ _tag: "Interrupt", fiberId: 1 }] }
      const error = yield* failureAt(yield* replying((id) => exitOf(id, exit)))
      assert.deepInclude(error.reason, { _tag: "Unavailable", sent: true })
    })
  )

  it.live("a connection that is cut before or in the answer: Unavailable, and it may have happened", () =>
    Effect.gen(function* () {
      const half = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n[{"
      for (const text of ["", half]) {
        const url = yield* tcp((socket) => socket.once("data", () => socket.end(text)))
        const error = yield* failureAt(url)
        assert.deepStrictEqual(error.reason, { _tag: "Unavailable", url: `${url}/v1/rpc`, sent: true })
      }
    })
  )

  it.live("no answer, or half of one and then silence: DeadlineExceeded", () =>
    Effect.gen(function* () {
      for (const text of ["", "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n[{"]) {
        const closed = yield* Deferred.make<void>()
        const url = yield* tcp((socket) => {
          socket.once("data", () => socket.write(text))
          socket.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
        })
        const error = yield* failureAt(url)
        assert.deepStrictEqual(error.reason, { _tag: "DeadlineExceeded", url: `${url}/v1/rpc`, afterMs: 300 })
        assert.include(error.message, "300 ms")
        mayHaveHappened(error)
        // A server learns by it that nobody waits any more.
        yield* Deferred.await(closed)
      }
    })
  )

  it.live("413: LimitExceeded, with the server's limit", () =>
    Effect.gen(function* () {
      const url = yield* answeringWith(413, JSON.stringify({ type: "x", limit: 1234 }), {
        "content-type": "application/problem+json"
      })
      const error = yield* failureAt(url)
      assert.deepInclude(error.reason, { _tag: "LimitExceeded", limit: 1234 })
      assert.isFalse(error.isRetryable)
    })
  )

  it.live("a call that is too long is refused before it is sent", () =>
    Effect.gen(function* () {
      let asked = 0
      const url = yield* answering((_request, response) => {
        asked++
        response.end()
      })
      const store = yield* make({ url, maxMessageBytes: 1000 })
      const error = yield* errorOf(store.deleteOutbox(["é".repeat(500)]))
      assert.deepInclude(error.reason, { _tag: "LimitExceeded", limit: 1000 })
      assert.strictEqual(asked, 0)
    })
  )
})

describe.each(sockets)("over $name", ({ make }) => {
  const failureAt = Effect.fnUntraced(function* (url: string, outageTimeout = 60_000) {
    const store = yield* make({ url, callTimeout: 300, outageTimeout })
    return yield* errorOf(store.counts())
  })

  it.live("a frame that is no message, or a message that is none of the protocol: Defect", () =>
    Effect.gen(function* () {
      for (const frame of ["<html>\n", "3\n", `{"_tag":"Hello"}\n`, `{"_tag":"Defect","defect":"boom"}\n`]) {
        const url = yield* answeringCalls(() => [frame])
        const error = yield* failureAt(url)
        assert.deepStrictEqual(error.reason, { _tag: "Defect" }, frame)
        assert.include(error.message, frame.includes("boom") ? "boom" : `${url}/v1/rpc sent something`)
        mayHaveHappened(error)
      }
    })
  )

  it.live("a result that is not the operation's: Defect of this call, and the connection goes on", () =>
    Effect.gen(function* () {
      let connections = 0
      const url = yield* accepting((socket) => {
        connections++
        socket.on("message", (data) => {
          for (const { id, tag } of messagesIn(data)) {
            const value = tag === "counts" ? "many" : []
            if (tag !== undefined) socket.send(`${exitOf(id, { _tag: "Success", value })}\n`)
          }
        })
      })
      const store = yield* make({ url })
      const [error, queues] = yield* Effect.all([errorOf(store.counts()), store.pausedQueues()], { concurrency: 2 })
      assert.deepStrictEqual(error.reason, { _tag: "Defect" })
      assert.deepStrictEqual(queues, [])
      assert.strictEqual(connections, 1)
    })
  )

  it.live("a defect of the server: Defect of this call, with its words", () =>
    Effect.gen(function* () {
      const exit = { _tag: "Failure", cause: [{ _tag: "Die", defect: { name: "Error", message: "boom" } }] }
      const error = yield* failureAt(yield* answeringCalls((id) => [`${exitOf(id, exit)}\n`]))
      assert.deepStrictEqual(error.reason, { _tag: "Defect" })
      assert.include(error.message, "boom")
    })
  )

  it.live("an answer that comes in pieces and with others is put together", () =>
    Effect.gen(function* () {
      const stranger = exitOf("nobody", { _tag: "Success", value: [] })
      const url = yield* answeringCalls((id) => {
        const text = `${stranger}\n\n{"_tag":"Pong"}\n${exitOf(id, { _tag: "Success", value: ["a", "é"] })}\n`
        return [text.slice(0, 90), text.slice(90, 91), text.slice(91)]
      })
      const store = yield* make({ url, callTimeout: 3_000 })
      assert.deepStrictEqual(yield* store.pausedQueues(), ["a", "é"])
    })
  )

  it.live("a socket that is closed or cut: Unavailable, and it may have happened", () =>
    Effect.gen(function* () {
      for (const end of ["close", "terminate"] as const) {
        const url = yield* accepting((socket) => {
          socket.on("message", () => (end === "close" ? socket.close(1009, "too big") : socket.terminate()))
        })
        const error = yield* failureAt(url)
        assert.deepStrictEqual(error.reason, { _tag: "Unavailable", url: `${url}/v1/rpc`, sent: true })
        assert.include(error.message, end === "close" ? "closed with code 1009 (too big)" : "lost the connection")
      }
    })
  )

  it.live("no answer: DeadlineExceeded, and the server is told", () =>
    Effect.gen(function* () {
      const told = yield* Deferred.make<string>()
      const ids: Array<string> = []
      const url = yield* accepting((socket) => {
        socket.on("message", (data) => {
          for (const message of messagesIn(data)) {
            if (message._tag === "Request") ids.push(message.id)
            if (message._tag === "Interrupt") Deferred.doneUnsafe(told, Effect.succeed(JSON.stringify(message)))
          }
        })
      })
      const error = yield* failureAt(url)
      assert.deepStrictEqual(error.reason, { _tag: "DeadlineExceeded", url: `${url}/v1/rpc`, afterMs: 300 })
      assert.deepInclude(JSON.parse(yield* Deferred.await(told)), { _tag: "Interrupt", requestId: ids[0] })
    })
  )

  it.live("a connection without a sign of life: its calls fail, and the next one is made on another", () =>
    Effect.gen(function* () {
      let connections = 0
      const url = yield* accepting((socket) => {
        const answers = ++connections > 1
        socket.on("message", (data) => {
          for (const { id, tag } of messagesIn(data)) {
            if (answers && tag !== undefined) socket.send(`${exitOf(id, { _tag: "Success", value: [] })}\n`)
          }
        })
      })
      const store = yield* make({ url, pingInterval: 250 })
      const error = yield* errorOf(store.pausedQueues())
      assert.deepStrictEqual(error.reason, { _tag: "Unavailable", url: `${url}/v1/rpc`, sent: true })
      assert.include(error.message, "no sign of life for 500 ms")
      assert.deepStrictEqual(yield* store.pausedQueues(), [])
    })
  )

  it.live("a server that answers HTTP and opens no socket is Unavailable, and the message tells of proxies", () =>
    Effect.gen(function* () {
      const url = yield* answering((_request, response) => response.writeHead(426).end())
      const error = yield* failureAt(url, 500)
      assert.deepInclude(error.reason, { _tag: "Unavailable", sent: false })
      assert.include(error.message, "proxy")
    })
  )

  it.live("a call that is too long is refused before it is sent, and its neighbours live", () =>
    Effect.gen(function* () {
      const url = yield* answeringCalls((id) => [`${exitOf(id, { _tag: "Success", value: [] })}\n`])
      const store = yield* make({ url, maxMessageBytes: 1000, limits: wide })
      const [error, queues] = yield* Effect.all(
        [errorOf(store.deleteOutbox(["é".repeat(500)])), store.pausedQueues()],
        {
          concurrency: 2
        }
      )
      assert.deepInclude(error.reason, { _tag: "LimitExceeded", limit: 1000 })
      assert.deepStrictEqual(queues, [])
    })
  )
})
