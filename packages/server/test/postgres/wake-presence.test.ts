/** What a server says of itself, and what its tokens hold. */
import { Limits } from "@jobwire/protocol"
import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { Fleet } from "../../src/drivers/postgres/wake/Fleet.ts"
import * as Message from "../../src/drivers/postgres/wake/Message.ts"

const origin = "origin"
const empty = { next: 10, open: [] }

const setUp = () => {
  const time = { now: 0 }
  const fleet = new Fleet({
    id: "me",
    silentForMs: 1_000,
    manyEvents: 100,
    random: () => 0.5,
    now: () => time.now,
    onOutgoing: () => {},
    onPresence: () => {}
  })
  fleet.connected(origin, empty)
  fleet.take()
  /** Parks so many waits. */
  const park = (count: number) => {
    const token = fleet.token("10:10:", "q", ["a"])
    return Array.from({ length: count }, () => Effect.runFork(fleet.awaitWake(1, ["q"], token)))
  }
  const told = () => {
    fleet.tellPresence()
    return fleet.take().flatMap((payload) => Message.read(payload)?.waiting.map(({ waiters }) => waiters) ?? [])
  }
  const hear = (message: Partial<Message.Message>) => {
    for (const payload of Message.write({ from: "peer", events: [], waiting: [], ...message })) fleet.heard(payload)
  }
  return { fleet, time, park, told, hear }
}

const interrupt = (fibers: ReadonlyArray<Fiber.Fiber<void>>): Promise<void> =>
  Effect.runPromise(Fiber.interruptAll(fibers))

describe("a server's waiters", () => {
  it("are told of when they begin and end to wait, and when they have become far more or fewer", async () => {
    const { hear, park, told } = setUp()
    hear({ sign: "hello" })
    expect(told()).toEqual([])
    const first = park(4)
    expect(told()).toEqual([4])
    const more = park(3)
    expect(told()).toEqual([])
    const many = park(1)
    expect(told()).toEqual([8])
    await interrupt([...more, ...many])
    expect(told()).toEqual([4])
    await interrupt(first)
    expect(told()).toEqual([0])
    expect(told()).toEqual([])
  })

  it("that come and go between two messages are not told of", async () => {
    const { hear, park, told } = setUp()
    hear({ sign: "hello" })
    await interrupt(park(5))
    expect(told()).toEqual([])
  })

  it("are told of to nobody while there is nobody, and to whoever comes", () => {
    const { fleet, hear, park, told, time } = setUp()
    time.now = 10_000_000
    park(2)
    expect(told()).toEqual([])
    hear({ sign: "hello" })
    expect(told()).toEqual([2])
    hear({ from: "another", sign: "hello" })
    expect(told()).toEqual([2])
    expect(fleet.parked).toBe(2)
  })

  it("are told of again when some have been called, as others count those as woken", () => {
    const { fleet, hear, park, told } = setUp()
    hear({ sign: "hello" })
    park(10)
    expect(told()).toEqual([10])
    hear({
      events: [{ store: 1, queue: "q", name: "a", transactions: [12], calls: [["me", 1]], rest: 0 }]
    })
    expect(fleet.parked).toBe(9)
    expect(told()).toEqual([9])
  })

  it("of a peer that was silent for too long are called no more, and asked for when it is heard again", () => {
    const { fleet, hear, time } = setUp()
    const callsFor = (transaction: string) => {
      fleet.committed(1, [{ queue: "q", name: "a", count: 1 }], transaction)
      return fleet.take().flatMap((payload) => Message.read(payload)?.events ?? [])
    }
    hear({ sign: 1, waiting: [{ store: 1, queue: "q", name: "a", waiters: 5 }] })
    expect(fleet.take().map((payload) => Message.read(payload)?.sign)).toEqual(["hello"])
    expect(callsFor("12")).toMatchObject([{ calls: [["peer", 1]], rest: 0 }])
    time.now = 1_001
    expect(callsFor("13")).toMatchObject([{ calls: [], rest: 1 }])
    hear({ sign: 2 })
    expect(fleet.take().map((payload) => Message.read(payload)?.sign)).toEqual(["hello"])
  })
})

describe("a server that does not hear itself", () => {
  it("is deaf after a while, until it hears itself or has a new connection", () => {
    const { fleet, time } = setUp()
    const beat = () => fleet.beat()
    const heard = beat()
    time.now = 5_000
    expect(fleet.isDeaf).toBe(true)
    for (const payload of heard) fleet.heard(payload)
    expect(fleet.isDeaf).toBe(false)
    beat()
    time.now = 6_000
    beat()
    expect(fleet.isDeaf).toBe(false)
    time.now = 9_000
    expect(fleet.isDeaf).toBe(true)
    fleet.connected(origin, empty)
    expect(fleet.isDeaf).toBe(false)
    beat()
    fleet.skipBeat()
    time.now = 20_000
    expect(fleet.isDeaf).toBe(false)
  })
})

describe("a token", () => {
  it("stays below the limit of an opaque string, whatever was open and asked for", () => {
    const { fleet } = setUp()
    const open = Array.from({ length: 2_000 }, (_, index) => 10 ** 15 + index * index)
    const snapshot = `${open[0]}:${10 ** 15 + 2_000 ** 2}:${open.join()}`
    const queue = "q".repeat(Limits.defaults.nameLength)
    for (const [count, length] of [
      [1, 1],
      [100, 12],
      [10, 256],
      [10_000, 256]
    ] as const) {
      const names = Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, '"'))
      const token = fleet.token(snapshot, queue, names)
      expect(token.length).toBeLessThan(Limits.defaults.opaqueLength)
    }
  })

  it("is refused what is no snapshot", () => {
    const { fleet } = setUp()
    expect(() => fleet.token("nonsense", "q", ["a"])).toThrow("no snapshot")
  })

  it("of another life of the database ends its wait at once", async () => {
    const { fleet, park } = setUp()
    const [before] = park(1)
    const token = fleet.token("10:10:", "q", ["a"])
    fleet.connected("another life", { next: 3, open: [] })
    await Effect.runPromise(fleet.awaitWake(1, ["q"], token))
    // Who was parked before is left to the look that follows, and to whatever happens then.
    expect(before?.pollUnsafe()).toBeUndefined()
    fleet.committed(1, [{ queue: "q", name: "a", count: 1 }], "4")
    expect(before?.pollUnsafe()).toBeDefined()
  })
})
