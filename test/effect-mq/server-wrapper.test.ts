/** What the wrapper adds to an effect-mq driver: repeats, opaque tokens and cursors, pages that fit, refusals and faults. */
import { assert, describe, expect, it } from "@effect/vitest"
import {
  type Ack,
  ClaimOptions,
  EnqueueRequest,
  JobNotFoundError,
  JobStoreError,
  Limits,
  LockLostError,
  type AckOutcome,
  type JobStore
} from "@jobwire/protocol"
import * as EffectMq from "@jobwire/server/effect-mq"
import { Cause, Deferred, Effect, Exit, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import { JobStore as Theirs, MemoryJobStore } from "effect-mq"

type Change = (driver: Theirs.Service) => Partial<Theirs.Service>

/** effect-mq's memory store, with some methods changed, behind the wrapper. */
const wrapped = (change: Change = () => ({}), limits: Partial<Limits.Limits> = {}) =>
  Effect.map(MemoryJobStore.make, (driver) =>
    EffectMq.make({ ...driver, ...change(driver) }, { ...Limits.defaults, ...limits }, "origin-1")
  )

const claimOptions = (token: string, queue = "queue"): ClaimOptions =>
  ClaimOptions.make({ queue, names: ["name"], token, lockDurationMs: 1000 })

const add = (store: JobStore.Service, id: string, fields: Partial<EnqueueRequest> = {}) =>
  store.enqueue(EnqueueRequest.make({ id, name: "name", queue: "queue", payload: id, ...fields }))

const take = Effect.fnUntraced(function* (store: JobStore.Service, token: string, queue?: string) {
  const result = yield* store.claim(claimOptions(token, queue))
  assert(result._tag === "Claimed", "claim found no job")
  return result.job
})

const takeNothing = Effect.fnUntraced(function* (store: JobStore.Service, token: string) {
  const result = yield* store.claim(claimOptions(token))
  assert(result._tag === "Empty", "claim found a job")
  return result.wakeToken
})

const complete = (exit: unknown): AckOutcome => ({ _tag: "Complete", exit })

describe("a claim that arrives twice", () => {
  it.effect("gives the same job while its token holds it, and another one after that", () =>
    Effect.gen(function* () {
      const store = yield* wrapped()
      for (const id of ["a", "b", "c", "d"]) yield* add(store, id)
      expect((yield* take(store, "t1")).id).toBe("a")
      expect((yield* take(store, "t1")).id).toBe("a")
      expect((yield* take(store, "t2")).id).toBe("b")
      yield* store.ack("a", "t1", complete(1))
      expect((yield* take(store, "t1")).id).toBe("c")
      yield* store.release("c", "t1")
      expect((yield* take(store, "t1")).id).toBe("c")
      expect((yield* store.counts()).active).toBe(2)
    })
  )

  it.effect("takes a fresh job when the lease was lost", () =>
    Effect.gen(function* () {
      const store = yield* wrapped()
      yield* add(store, "a")
      yield* take(store, "t1")
      yield* TestClock.adjust(1001)
      yield* store.recoverStalled({ maxStalledCount: 5 })
      expect((yield* take(store, "t2")).id).toBe("a")
      yield* takeNothing(store, "t1")
    })
  )

  it.effect("waits for the first, also when the first caller has gone away", () =>
    Effect.gen(function* () {
      const reached = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const store = yield* wrapped((driver) => ({
        claim: (options) =>
          Effect.tap(driver.claim(options), () =>
            Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(go))
          )
      }))
      yield* add(store, "a")
      yield* add(store, "b")
      const first = yield* Effect.forkChild(take(store, "t1"))
      yield* Deferred.await(reached)
      const interrupted = yield* Effect.forkChild(Fiber.interrupt(first))
      const second = yield* Effect.forkChild(take(store, "t1"))
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(interrupted)
      expect((yield* Fiber.join(second)).id).toBe("a")
      expect((yield* store.counts()).active).toBe(1)
    })
  )
})

describe("an ack that arrives twice", () => {
  it.effect("is a success when it is the same, and a lost lock when it is another", () =>
    Effect.gen(function* () {
      const store = yield* wrapped()
      yield* add(store, "a")
      yield* take(store, "t1")
      yield* store.ack("a", "t1", complete({ n: 1 }))
      yield* store.ack("a", "t1", complete({ n: 1 }))
      for (const other of [complete({ n: 2 }), { _tag: "Cancelled" } as const]) {
        expect(yield* Effect.flip(store.ack("a", "t1", other))).toBeInstanceOf(LockLostError)
      }
      expect(yield* Effect.flip(store.ack("a", "t2", complete({ n: 1 })))).toBeInstanceOf(LockLostError)
      expect(yield* store.getAttempts("a")).toHaveLength(1)
    })
  )

  it.effect("is answered as the job's being gone when it is, and as a lost lock when another one has its id", () =>
    Effect.gen(function* () {
      const store = yield* wrapped()
      yield* add(store, "a")
      yield* take(store, "t1")
      yield* store.ack("a", "t1", complete(1))
      yield* store.remove("a")
      expect(yield* Effect.flip(store.ack("a", "t1", complete(1)))).toBeInstanceOf(JobNotFoundError)
      yield* add(store, "a")
      expect(yield* Effect.flip(store.ack("a", "t1", complete(1)))).toBeInstanceOf(LockLostError)
    })
  )

  it.effect("settles the second run of a job under the same token anew", () =>
    Effect.gen(function* () {
      const store = yield* wrapped()
      yield* add(store, "a", { attemptsMax: 2 })
      yield* take(store, "t1")
      const again: AckOutcome = { _tag: "Retry", delayMs: 0.5, exit: undefined }
      yield* store.ack("a", "t1", again)
      const [job] = (yield* store.list({})).items
      expect(Number.isInteger(job?.runAt)).toBe(true)
      yield* TestClock.adjust(1)
      expect((yield* take(store, "t1")).id).toBe("a")
      yield* store.ack("a", "t1", again)
      expect(yield* store.getAttempts("a")).toHaveLength(2)
    })
  )
})

const claimMany = (store: JobStore.Service, tokens: ReadonlyArray<string>) =>
  Effect.map(store.claimMany({ queue: "queue", names: ["name"], tokens, lockDurationMs: 1000 }), ({ empty, jobs }) => ({
    ids: jobs.map(({ job, token }) => `${token} ${job.id}`),
    empty
  }))

describe("many claims and acks", () => {
  it.effect("are those of as many single calls, with their repeats", () =>
    Effect.gen(function* () {
      const store = yield* wrapped()
      for (const id of ["a", "b", "c"]) yield* add(store, id)
      const two = { ids: ["t1 a", "t2 b"], empty: undefined }
      expect(yield* claimMany(store, ["t1", "t2"])).toEqual(two)
      expect(yield* claimMany(store, ["t1", "t2"])).toEqual(two)
      const { empty, ids } = yield* claimMany(store, ["t2", "t3", "t4", "t5"])
      expect(ids).toEqual(["t2 b", "t3 c"])
      const waiting = yield* Effect.forkChild(store.awaitWake(["queue"], empty?.wakeToken ?? ""))
      const acks: ReadonlyArray<Ack> = [
        { id: "a", token: "t1", outcome: complete(1) },
        { id: "b", token: "t1", outcome: complete(1) },
        { id: "unknown", token: "t1", outcome: complete(1) },
        { id: "c", token: "t3", outcome: complete(new Date(0)) },
        { id: "b", token: "t2", outcome: { _tag: "Retry", delayMs: 0, exit: undefined } }
      ]
      for (let time = 0; time < 2; time++) {
        const results = yield* store.ackMany(acks)
        expect(results.map(({ _tag }) => _tag)).toEqual([
          "Acked",
          "LockLostError",
          "JobNotFoundError",
          "JobStoreError",
          "Acked"
        ])
        expect(results[1]).toBeInstanceOf(LockLostError)
      }
      yield* Fiber.join(waiting)
      expect(yield* store.getAttempts("b")).toHaveLength(1)
      expect((yield* store.counts()).active).toBe(1)
    })
  )

  it.effect("end where the next job might be too big for the answer", () =>
    Effect.gen(function* () {
      const limits = { payloadBytes: 100, exitBytes: 10, metadataBytes: 10, pageBytes: 240 }
      const store = yield* wrapped(undefined, limits)
      for (const id of ["a", "b", "c", "d"]) yield* add(store, id, { payload: "x".repeat(60) })
      // Two have 128 bytes with their metadata; a third may have 120.
      expect(yield* claimMany(store, ["t1", "t2", "t3", "t4"])).toEqual({ ids: ["t1 a", "t2 b"], empty: undefined })
      expect((yield* store.counts()).active).toBe(2)
      expect((yield* claimMany(store, ["t3", "t4", "t5"])).ids).toEqual(["t3 c", "t4 d"])
    })
  )

  it.effect("a fault of the driver at one ack is the result of that one", () =>
    Effect.gen(function* () {
      const store = yield* wrapped((driver) => ({
        ack: (id, token, outcome) =>
          id === "b" ? Effect.fail(new Theirs.JobStoreError({ message: "gone away" })) : driver.ack(id, token, outcome)
      }))
      for (const id of ["a", "b", "c"]) yield* add(store, id)
      yield* claimMany(store, ["t1", "t2", "t3"])
      const results = yield* store.ackMany(
        ["a", "b", "c"].map((id, index) => ({ id, token: `t${index + 1}`, outcome: complete(1) }))
      )
      expect(results.map(({ _tag }) => _tag)).toEqual(["Acked", "JobStoreError", "Acked"])
      expect(results[1]).toMatchObject({ message: "gone away", isRetryable: true })
    })
  )
})

describe("wake tokens", () => {
  it.effect("of this instance wait for work; all others resolve at once", () =>
    Effect.gen(function* () {
      const store = yield* wrapped()
      const token = yield* takeNothing(store, "t1")
      const waiting = yield* Effect.forkChild(store.awaitWake(["queue"], token))
      for (const other of ["origin-2.0", "origin-1.", "origin-1.x", "0"]) yield* store.awaitWake(["queue"], other)
      expect(waiting.pollUnsafe()).toBeUndefined()
      yield* add(store, "a")
      yield* Fiber.join(waiting)
    })
  )
})

describe("lists", () => {
  it.effect("refuse a cursor of another list and one that was made up, and page through their own", () =>
    Effect.gen(function* () {
      const store = yield* wrapped()
      for (const id of ["a", "b", "c"]) yield* add(store, id)
      const first = yield* store.list({ queue: "queue", limit: 2, order: "asc" })
      const cursor = first.cursor
      assert(cursor !== undefined)
      const rest = yield* store.list({ queue: "queue", limit: 1, order: "asc", cursor })
      expect([...first.items, ...rest.items].map((job) => job.id)).toEqual(["a", "b", "c"])
      const wrong = [
        { queue: "queue", order: "desc", cursor },
        { queue: "other", order: "asc", cursor },
        { queue: "queue", order: "asc", cursor: `${cursor}x` },
        { queue: "queue", order: "asc", cursor: "0:a" }
      ] as const
      for (const options of wrong) {
        const error = yield* Effect.flip(store.list(options))
        expect(error.reason).toEqual({ _tag: "InvalidArgument", field: "options.cursor" })
      }
    })
  )

  it.effect("refuse an order that the driver cannot serve, and leave other defects alone", () =>
    Effect.gen(function* () {
      const unsupported = yield* wrapped(() => ({
        list: () => Effect.die(new Theirs.ListOrderUnsupportedError({ orderBy: "runAt", message: "only in a queue" }))
      }))
      const error = yield* Effect.flip(unsupported.list({ orderBy: "runAt" }))
      expect(error.reason).toEqual({ _tag: "InvalidArgument", field: "options.orderBy" })
      expect(error.message).toContain("only in a queue")

      const broken = yield* wrapped(() => ({ list: () => Effect.die(new Error("broken")) }))
      const exit = yield* Effect.exit(broken.list({}))
      assert(Exit.isFailure(exit))
      expect(Cause.squash(exit.cause)).toEqual(new Error("broken"))
    })
  )

  it.effect("give pages that fit a message, and lose nothing", () =>
    Effect.gen(function* () {
      const store = yield* wrapped(undefined, { pageBytes: 250, pageLength: 8 })
      const ids = Array.from({ length: 20 }, (_, index) => `id-${String(index).padStart(2, "0")}`)
      for (const id of ids) yield* add(store, id, { payload: "x".repeat(60) })
      const found: Array<string> = []
      let cursor: string | undefined
      do {
        const page = yield* store.list({ order: "asc", limit: 100, cursor })
        expect(page.items.length).toBeLessThanOrEqual(4)
        found.push(...page.items.map((job) => job.id))
        cursor = page.cursor
      } while (cursor !== undefined)
      expect(found).toEqual(ids)
    })
  )
})

describe("arguments and faults", () => {
  it.effect("what breaks the contract is refused before the driver sees it", () =>
    Effect.gen(function* () {
      const store = yield* wrapped()
      const error = yield* Effect.flip(add(store, "a", { payload: { when: new Date(0) } }))
      expect(error.reason).toEqual({ _tag: "InvalidArgument", field: "request.payload.when" })
      expect(yield* store.getJob("a")).toEqual(Option.none())
    })
  )

  it.effect("a fault of the driver may be tried again, and says what the driver says", () =>
    Effect.gen(function* () {
      const store = yield* wrapped(() => ({
        counts: () =>
          Effect.fail(new Theirs.JobStoreError({ message: "connection lost", cause: new Error("ECONNRESET") }))
      }))
      const error = yield* Effect.flip(store.counts())
      expect(error).toBeInstanceOf(JobStoreError)
      expect(error.message).toBe("connection lost")
      expect(error.reason).toEqual({ _tag: "DriverFault", transient: true })
      expect(error.isRetryable).toBe(true)
    })
  )

  it.effect("records have every key of ours, also those that effect-mq leaves out", () =>
    Effect.gen(function* () {
      const store = yield* wrapped((driver) => ({
        enqueue: (request) =>
          driver.enqueue({ ...request, backoff: { _tag: "fixed", delayMs: 5 }, keep: { failed: { count: 1 } } })
      }))
      yield* add(store, "a")
      const job = yield* take(store, "t1")
      expect(Object.keys(job.backoff ?? {}).toSorted()).toEqual(["_tag", "delayMs", "factor"])
      expect(Object.keys(job.keep ?? {}).toSorted()).toEqual(["cancelled", "completed", "failed"])
      expect(Object.keys(job.keep?.failed ?? {}).toSorted()).toEqual(["ageMs", "count"])
    })
  )
})
