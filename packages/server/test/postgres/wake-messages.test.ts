/** What servers tell each other arrives as it was meant, in payloads that PostgreSQL takes. */
import { Json } from "@jobwire/protocol"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Message from "../../src/drivers/postgres/wake/Message.ts"
import { Outgoing } from "../../src/drivers/postgres/wake/Outgoing.ts"
import { Peers } from "../../src/drivers/postgres/wake/Peers.ts"
import { property } from "../core/support/property.ts"

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 256 })
const keys = { store: fc.nat(), queue: words, name: fc.option(words) }
const events = fc.record({
  ...keys,
  transactions: fc.array(fc.maxSafeNat(), { maxLength: 700 }),
  calls: fc.array(fc.tuple(fc.string({ minLength: 1, maxLength: 12 }), fc.nat()), { maxLength: 5 }),
  rest: fc.nat()
})
const messages: fc.Arbitrary<Message.Message> = fc.record(
  {
    from: fc.uuid(),
    sign: fc.constantFrom<Message.Sign>("hello", "bye", 7),
    events: fc.array(events, { maxLength: 30 }),
    waiting: fc.array(fc.record({ ...keys, waiters: fc.nat() }), { maxLength: 30 })
  },
  { requiredKeys: ["from", "events", "waiting"] }
)

/** Everything that the parts of an event tell, together. */
const joined = (parts: ReadonlyArray<Message.Event>) => ({
  transactions: parts.flatMap(({ transactions }) => transactions),
  calls: parts.flatMap(({ calls }) => calls),
  rest: parts.reduce((sum, { rest }) => sum + rest, 0)
})

describe("a message", () => {
  property(
    "is told in payloads below 8000 bytes, and read as it was written",
    messages,
    (message) => {
      const payloads = Message.write(message)
      for (const payload of payloads) expect(Json.utf8Length(payload)).toBeLessThan(8000)
      const read = payloads.map((payload) => Message.read(payload))
      expect(read.map((each) => each?.from)).toEqual(payloads.map(() => message.from))
      expect(read.flatMap((each) => (each?.sign === undefined ? [] : [each.sign]))).toEqual(
        message.sign === undefined ? [] : [message.sign]
      )
      expect(read.flatMap((each) => each?.waiting ?? [])).toEqual(message.waiting)
      const parts = read.flatMap((each) => each?.events ?? [])
      expect(joined(parts)).toEqual(joined(message.events))
      expect(parts.every(({ transactions }) => transactions.length <= 200)).toBe(true)
    },
    200
  )

  it("that says nothing is none", () => {
    expect(Message.write({ from: "a", events: [], waiting: [] })).toEqual([])
  })

  it("of another kind is not read, and what is unknown in one is ignored", () => {
    for (const payload of ["", "{}", "nonsense", '{"from":1,"events":[],"waiting":[]}']) {
      expect(Message.read(payload)).toBeUndefined()
    }
    const newer =
      '{"from":"a","events":[],"waiting":[{"store":1,"queue":"q","name":null,"waiters":2,"mood":"good"}],"more":1}'
    expect(Message.read(newer)?.waiting).toEqual([{ store: 1, queue: "q", name: null, waiters: 2 }])
  })

  it("leaves out what no payload could hold", () => {
    const long = { store: 1, queue: "q".repeat(9000), name: "a", waiters: 1 }
    const short = { store: 1, queue: "q", name: "a", waiters: 1 }
    const payloads = Message.write({ from: "a", events: [], waiting: [long, short] })
    expect(payloads.flatMap((payload) => Message.read(payload)?.waiting)).toEqual([short])
  })
})

describe("what is gathered", () => {
  it("is told once, events of one queue and name together", () => {
    const outgoing = new Outgoing("me")
    const key = { store: 1, queue: "q", name: "a" }
    outgoing.event(key, [5], [{ peer: "one", waiters: 1 }], 0)
    outgoing.event(key, [6], [{ peer: "one", waiters: 2 }], 3)
    outgoing.event({ ...key, name: undefined }, [7], [], 0)
    outgoing.waiting(key, 4)
    outgoing.waiting(key, 2)
    expect(outgoing.take().map((payload) => Message.read(payload))).toEqual([
      {
        from: "me",
        events: [
          { store: 1, queue: "q", name: "a", transactions: [5, 6], calls: [["one", 3]], rest: 3 },
          { store: 1, queue: "q", name: null, transactions: [7], calls: [], rest: 0 }
        ],
        waiting: [{ store: 1, queue: "q", name: "a", waiters: 2 }]
      }
    ])
    expect(outgoing.isEmpty).toBe(true)
    expect(outgoing.take()).toEqual([])
  })
})

describe("peers", () => {
  const key = { store: 1, queue: "q", name: "a" }

  it("are drawn as often as they have waiters", () => {
    const drawn: Record<string, number> = {}
    for (let index = 0; index < 100; index++) {
      const peers = new Peers()
      peers.told("few", key, 10)
      peers.told("many", key, 90)
      for (const { peer } of peers.share(key, 1, () => index / 100)) drawn[peer] = (drawn[peer] ?? 0) + 1
    }
    expect(drawn).toEqual({ few: 10, many: 90 })
  })

  it("are called for no more waiters than they have left", () => {
    const peers = new Peers()
    peers.told("one", key, 1)
    peers.told("two", key, 2)
    const shares = [...peers.share(key, 2, () => 0.99), ...peers.share(key, 5, () => 0)]
    expect(shares).toEqual([
      { peer: "two", waiters: 2 },
      { peer: "one", waiters: 1 }
    ])
    expect(peers.share(key, 1, () => 0)).toEqual([])
  })

  it("are forgotten when they say so, or say nothing for long", () => {
    const peers = new Peers()
    for (const peer of ["gone", "silent", "here"]) {
      expect(peers.heard(peer, 1_000)).toBe(true)
      peers.told(peer, key, 1)
    }
    peers.forget("gone")
    expect(peers.heard("here", 2_000)).toBe(false)
    peers.forgetSilent(1_500)
    expect(peers.share(key, 3, () => 0)).toEqual([{ peer: "here", waiters: 1 }])
    expect(peers.heard("silent", 3_000)).toBe(true)
  })
})
