/**
 * Random histories of a fleet: transactions, messages, waits and losses in any order. No wake is lost but those that a look at the
 * database makes good, and nobody runs in circles.
 */
import { Effect, type Fiber } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { property } from "../core/support/property.ts"
import { names, queue, World } from "./support/simulated-fleet.ts"

type Step = readonly [kind: string, one: number, other: number]

const long = Array.from({ length: 200 }, (_, index) => `a name that is too long for a token ${index}`)

const actions: Record<string, (world: World, one: number, other: number) => void> = {
  begin: (world, one, other) => world.database.begin(one, { [names[other % 2] ?? "a"]: 1 + (other % 3) }),
  beginBoth: (world, one) => world.database.begin(one, { a: 1, b: 2 }),
  beginResume: (world, one) => world.database.begin(one, {}, true),
  commit: (world, one) => world.commit(one),
  tell: (world, one) => void world.tell(one),
  send: (world, one) => void world.send(one),
  deliver: (world, one, other) => void world.deliver(one, other),
  work: (world, one, other) => void world.work(one, other),
  // A few steps that often belong together.
  job: (world, one, other) => {
    world.database.begin(one, { [names[other % 2] ?? "a"]: 1 })
    world.commit(world.database.open.size - 1)
    world.tell(one)
  },
  park: (world, one, other) => {
    world.work(one, other)
    world.work(one, other)
  },
  exchange: (world) => {
    for (const index of world.servers.keys()) world.send(index)
    for (const index of world.servers.keys()) while (world.deliver(index, 0));
  },
  forget: (world, one) => world.settleEvents(one),
  giveUp: (world, one) => {
    const worker = world.workers[one % world.workers.length]
    if (worker !== undefined) world.callOff(worker)
  },
  retire: (world, one, other) => {
    const worker = world.workers[one % world.workers.length]
    if (worker !== undefined && other % 4 === 0) world.retire(worker)
  },
  pass: (world, one) => {
    world.now += 100 * (one % 15)
  }
}

const outages: typeof actions = {
  restart: (world, one) => world.restart(one),
  deafen: (world, one) => world.deafen(one),
  reconnect: (world, one) => world.reconnect(one)
}

const losses: typeof actions = {
  lose: (world, one) => world.lose(one),
  look: (world, one) => world.look(one)
}

const all = { ...actions, ...outages, ...losses }

/** Histories in which the things that move the world on come more often than those that trouble it. */
const histories = (kinds: ReadonlyArray<string>) => {
  const step: fc.Arbitrary<Step> = fc.tuple(fc.constantFrom(...kinds), fc.nat(50), fc.nat(50))
  return fc.record({
    servers: fc.integer({ min: 1, max: 4 }),
    workers: fc.array(fc.constantFrom(["a"], ["b"], ["a", "b"], ["b", ...long]), { minLength: 1, maxLength: 5 }),
    draws: fc.array(fc.nat(99), { minLength: 1, maxLength: 7 }),
    steps: fc.array(step, { minLength: 5, maxLength: 150 })
  })
}

type History = ReturnType<typeof histories> extends fc.Arbitrary<infer A> ? A : never

const usual = Object.keys(actions).flatMap((kind) =>
  ["work", "deliver", "send", "commit", "park", "exchange"].includes(kind) ? [kind, kind, kind] : [kind]
)

const play = ({ draws, servers, steps, workers }: History): World => {
  let drawn = 0
  const world = new World(servers, workers, () => (draws[drawn++ % draws.length] ?? 0) / 100)
  for (const [kind, one, other] of steps) all[kind]?.(world, one, other)
  return world
}

// Whatever is in flight at the end is worth a few messages and claims a server and worker.
const most = 5_000

describe("a fleet", () => {
  property(
    "loses no wake while nothing fails",
    histories(usual),
    (history) => {
      const world = play(history)
      world.settle(most)
      expect(world.isStuck).toBe(false)
    },
    800
  )

  property(
    "whose servers come and go loses none but those that were on their way to one that went",
    histories([...usual, ...Object.keys(outages)]),
    (history) => {
      const world = play(history)
      for (const index of world.servers.keys()) world.reconnect(index)
      world.settle(most)
      if (!world.hasLost) expect(world.isStuck).toBe(false)
    },
    800
  )

  property(
    "that loses servers, connections and messages lacks nothing after one look at the database",
    histories([...usual, ...Object.keys(outages), ...Object.keys(losses)]),
    (history) => {
      const world = play(history)
      for (const index of world.servers.keys()) world.reconnect(index)
      world.settle(most)
      for (const index of world.servers.keys()) world.look(index)
      world.settle(most)
      expect(world.isStuck).toBe(false)
    },
    800
  )

  property(
    "at rest parks every wait at its first claim",
    histories([...usual, ...Object.keys(outages), ...Object.keys(losses)]),
    (history) => {
      const world = play(history)
      for (const index of world.servers.keys()) world.reconnect(index)
      world.settle(most)
      for (const index of world.servers.keys()) world.look(index)
      world.settle(most)
      for (const [index, worker] of world.workers.entries()) {
        for (const server of world.servers.keys()) {
          world.callOff(worker)
          worker.token = undefined
          worker.hasRetired = false
          while (worker.token === undefined) world.work(index, server)
          world.work(index, server)
          expect(world.isParked(worker)).toBe(true)
        }
      }
    },
    500
  )
})

describe("a waiter", () => {
  it("that goes away between being chosen and going on leaves its call to another server", () => {
    const world = new World(2, [["a"], ["a"]], () => 0.5)
    const [killer, heir] = world.workers
    const doomed: { fiber?: Fiber.Fiber<unknown> } = {}
    const { fleet } = world.server(0)
    const token = fleet.token(world.database.snapshot(), queue, ["a"])
    // Woken first, it interrupts the second before that one's turn has come.
    Effect.runFork(
      Effect.andThen(
        fleet.awaitWake(1, [queue], token),
        Effect.sync(() => doomed.fiber?.interruptUnsafe())
      )
    )
    doomed.fiber = Effect.runFork(fleet.awaitWake(1, [queue], token))
    world.work(1, 1)
    world.work(1, 1)
    expect([killer, heir].map((worker) => worker !== undefined && world.isParked(worker))).toEqual([false, true])
    world.database.begin(0, { a: 2 })
    world.commit(0)
    world.tell(0)
    expect(fleet.parked).toBe(0)
    world.send(0)
    while (world.deliver(1, 0));
    expect(heir !== undefined && world.isParked(heir)).toBe(false)
  })
})

const settled = (servers: number, workers: number) => {
  const world = new World(
    servers,
    Array.from({ length: workers }, () => ["a"]),
    () => 0.5
  )
  world.settle(most)
  return world
}
const claims = (world: World): number => world.workers.reduce((sum, { claims }) => sum + claims, 0)

describe("one job", () => {
  it("wakes one of a hundred waiters on three servers, whichever server it comes in by", () => {
    const world = settled(3, 99)
    const before = claims(world)
    for (let job = 0; job < 60; job++) {
      world.database.begin(job, { a: 1 })
      world.settle(most)
    }
    // Each job is one claim that takes it, and one that finds nothing and parks again.
    expect(claims(world) - before).toBe(120)
  })

  it("that comes in by a server without waiters wakes one of the others' ", () => {
    const world = new World(
      3,
      Array.from({ length: 40 }, () => ["a"]),
      () => 0.5
    )
    for (const index of world.workers.keys()) {
      world.work(index, 1 + (index % 2))
      world.work(index, 1 + (index % 2))
    }
    for (const index of [1, 2, 0]) world.send(index)
    for (const index of [0, 1, 2]) while (world.deliver(index, 0));
    for (const index of [1, 2, 0]) world.send(index)
    for (const index of [0, 1, 2]) while (world.deliver(index, 0));
    world.database.begin(0, { a: 3 })
    world.commit(0)
    world.tell(0)
    world.send(0)
    for (const index of [0, 1, 2]) while (world.deliver(index, 0));
    expect(world.workers.filter((worker) => !world.isParked(worker)).length).toBe(3)
  })
})
