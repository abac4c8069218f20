/** The bookkeeping of calls over one socket, with a socket that only remembers what was sent. */
import { assert, describe, it } from "@effect/vitest"
import type { Socket } from "effect/socket"
import { CallList, type OpenCall } from "../src/transport/CallList.ts"
import { Multiplexer } from "../src/transport/Multiplexer.ts"

const call = (id: number, message = `call ${id}\n`, openEnded = false): OpenCall => ({
  clientId: 0,
  id,
  message,
  openEnded
})

const nothing = () => undefined

const socket = (readyState = 1) => {
  const frames: Array<string> = []
  const fake: Socket.WebSocketLike = {
    readyState,
    addEventListener: nothing,
    removeEventListener: nothing,
    close: nothing,
    send: (data) => frames.push(String(data))
  }
  return { fake, frames }
}

const turnOfTheLoop = Promise.resolve()

const ids = (calls: ReadonlyArray<OpenCall>) => calls.map(({ id }) => id)

describe("a list of calls", () => {
  it("gives the old ones in order, and keeps the rest", () => {
    const list = new CallList()
    for (const id of [1, 2, 3]) list.add(call(id), id * 10)
    assert.strictEqual(list.oldest, 10)
    assert.deepStrictEqual(ids(list.takeSince(20)), [1, 2])
    assert.strictEqual(list.oldest, 30)
    assert.isUndefined(list.take(1))
    assert.strictEqual(list.take(3)?.id, 3)
    assert.strictEqual(list.size, 0)
    assert.isUndefined(list.oldest)
  })
})

describe("the multiplexer", () => {
  it("writes what was submitted in one turn of the loop together, in order", async () => {
    const { fake, frames } = socket()
    const calls = new Multiplexer()
    calls.attach(fake)
    for (const id of [1, 2, 3]) calls.submit(call(id))
    assert.deepStrictEqual(frames, [])
    await turnOfTheLoop
    assert.deepStrictEqual(frames, ["call 1\ncall 2\ncall 3\n"])
    assert.strictEqual(calls.sent.size, 3)
  })

  it("puts no long message into a frame with others", async () => {
    const { fake, frames } = socket()
    const calls = new Multiplexer()
    calls.attach(fake)
    const long = "x".repeat(70_000)
    for (const [id, message] of ["a", long, "b", "c"].entries()) calls.submit(call(id, message))
    await turnOfTheLoop
    assert.deepStrictEqual(frames, ["a", long, "bc"])
  })

  it("keeps calls until there is a socket, and while the socket is not open", async () => {
    const calls = new Multiplexer()
    calls.submit(call(1))
    const closing = socket(2)
    calls.attach(closing.fake)
    calls.submit(call(2))
    await turnOfTheLoop
    assert.deepStrictEqual(closing.frames, [])
    assert.strictEqual(calls.unsent.size, 2)
    calls.detach()
    const open = socket()
    calls.attach(open.fake)
    assert.deepStrictEqual(open.frames, ["call 1\ncall 2\n"])
  })

  it("gives back what was sent when the socket is lost, and keeps what was not", async () => {
    const { fake } = socket()
    const calls = new Multiplexer()
    calls.attach(fake)
    calls.submit(call(1))
    calls.submit(call(2, "wait\n", true))
    await turnOfTheLoop
    calls.submit(call(3))
    calls.detach()
    await turnOfTheLoop
    assert.deepStrictEqual(ids(calls.takeSent()), [1, 2])
    assert.strictEqual(calls.unsent.size, 1)
  })

  it("tells the server of a cancelled call only when it knows of the call", async () => {
    const { fake, frames } = socket()
    const calls = new Multiplexer()
    calls.attach(fake)
    calls.submit(call(1))
    calls.submit(call(2))
    calls.cancel(1)
    await turnOfTheLoop
    assert.deepStrictEqual(frames, ["call 2\n"])
    calls.cancel(2)
    calls.cancel(3)
    await turnOfTheLoop
    assert.deepStrictEqual(JSON.parse(frames[1] ?? ""), { _tag: "Interrupt", requestId: 2 })
    assert.isUndefined(calls.settle(2))
  })
})
