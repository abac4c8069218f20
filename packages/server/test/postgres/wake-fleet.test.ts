/** Three servers on one store, behind their network: every call of a worker goes to another of them. */
import { JobStore } from "@jobwire/protocol"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { postgresStore } from "../../../../test/support/fresh-postgres.ts"
import { remote } from "../../../../test/support/network.ts"

const queue = "queue"

const servers = (count: number, transport?: "websocket" | "http") => {
  const name = randomUUID()
  // So long that what is seen is no look's doing.
  const server = () => postgresStore(name, { wakePollInterval: "1 hour" })
  return Effect.forEach(Array.from({ length: count }), () =>
    Effect.map(
      Layer.build(Layer.fresh(transport === undefined ? server() : remote(server(), transport))),
      Context.get(JobStore.JobStore)
    )
  )
}

type Stores = ReadonlyArray<JobStore.JobStore["Service"]>

/** Calls that go round. */
const inTurn = (stores: Stores, first: number) => {
  let turn = first
  return () => {
    const store = stores[turn++ % stores.length]
    if (store === undefined) throw new Error("there is no server")
    return store
  }
}

interface Tally {
  claims: number
  empty: number
  readonly done: Array<string>
}

const work = Effect.fnUntraced(function* (next: ReturnType<typeof inTurn>, tally: Tally) {
  while (true) {
    const token = randomUUID()
    tally.claims++
    const result = yield* next().claim({ queue, names: ["a"], token, lockDurationMs: 60_000 })
    if (result._tag === "Empty") {
      tally.empty++
      yield* next().awaitWake([queue], result.wakeToken)
    } else {
      yield* next().ack(result.job.id, token, { _tag: "Complete", exit: undefined })
      tally.done.push(result.job.id)
    }
  }
})

const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (holds() ? Effect.void : Effect.andThen(Effect.sleep("5 millis"), until(holds))))

const request = {
  name: "a",
  queue,
  id: undefined,
  payload: undefined,
  metadata: {},
  priority: 0,
  attemptsMax: 1,
  delayMs: 0,
  backoff: undefined,
  keep: undefined,
  timeoutMs: undefined,
  trace: undefined,
  parent: undefined,
  dedupe: undefined
} as const

describe.each(["websocket", "http"] as const)("three servers behind %s", (transport) => {
  it.live(
    "wake workers whose every call goes to another server: every job is done once, and few claims find nothing",
    () =>
      Effect.gen(function* () {
        const stores = yield* servers(3, transport)
        const tally: Tally = { claims: 0, empty: 0, done: [] }
        const workers = 12
        const fibers = yield* Effect.forEach(Array.from({ length: workers }), (_, index) =>
          Effect.forkChild(work(inTurn(stores, index), tally))
        )
        yield* until(() => tally.empty >= workers)
        const jobs = 40
        const before = tally.empty
        const produce = inTurn(stores, 0)
        for (let job = 1; job <= jobs; job++) {
          yield* produce().enqueue(request)
          yield* Effect.timeout(
            until(() => tally.done.length >= job),
            "20 seconds"
          )
        }
        yield* Fiber.interruptAll(fibers)
        assert.strictEqual(new Set(tally.done).size, jobs)
        // One that parks the worker after its job, and seldom another.
        assert.isAtMost(tally.empty - before, 2 * jobs)
      }).pipe(Effect.scoped)
  )
})

describe("a server that stops", () => {
  it.live("leaves tokens that are good at the others, and at the one that takes its place", () =>
    Effect.gen(function* () {
      const name = randomUUID()
      const build = Effect.map(
        Layer.build(Layer.fresh(postgresStore(name, { wakePollInterval: "1 hour" }))),
        Context.get(JobStore.JobStore)
      )
      const stays = yield* build
      const claim = { queue, names: ["a"], token: "t", lockDurationMs: 1000 }
      const tokenOf = (store: typeof stays) =>
        Effect.map(store.claim(claim), (result) =>
          result._tag === "Empty" ? result.wakeToken : assert.fail("there was a job")
        )
      const token = yield* Effect.scoped(Effect.flatMap(build, tokenOf))
      const waiting = yield* Effect.forkChild(stays.awaitWake([queue], token))
      const successor = yield* build
      yield* successor.enqueue(request)
      yield* Effect.timeout(Fiber.join(waiting), "20 seconds")
      yield* Effect.timeout(successor.awaitWake([queue], token), "20 seconds")
      assert.strictEqual((yield* stays.claim(claim))._tag, "Claimed")
    }).pipe(Effect.scoped)
  )
})
