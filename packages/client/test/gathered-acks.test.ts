/** Acks of one moment in one message: who goes with whom, and that nobody notices. */
import { assert, describe, it } from "@effect/vitest"
import {
  type Ack,
  acked,
  type AckOutcome,
  type AckResult,
  type JobStore,
  JobNotFoundError,
  JobStoreError,
  type JobStoreErrorReason,
  LockLostError
} from "@jobwire/protocol"
import { Deferred, Effect, Exit, Fiber, Queue } from "effect"
import { stubStore } from "../../../test/support/stub-store.ts"
import { gatherAcks } from "../src/GatheredAcks.ts"
import { errorOf, serve, ways } from "./support/jobwire.ts"

const complete = (exit?: unknown): AckOutcome => ({ _tag: "Complete", exit })

const maxMessageBytes = 16_000_000

/** What a store says to an ack: the id names it. */
const verdict = ({ id }: Ack): AckResult => {
  if (id.startsWith("lost")) return new LockLostError({ jobId: id })
  return id.startsWith("unknown") ? new JobNotFoundError({ jobId: id }) : acked
}

const endOf = (result: AckResult) => (result._tag === "Acked" ? Effect.void : Effect.fail(result))

/** A store that remembers its calls: an `ack` as its id, an `ackMany` as the list of its ids. */
const recording = (ackMany?: JobStore.Service["ackMany"]) => {
  const calls: Array<string | ReadonlyArray<string>> = []
  const store = stubStore({
    ack: (id, token, outcome) =>
      Effect.suspend(() => {
        calls.push(id)
        return endOf(verdict({ id, token, outcome }))
      }),
    ackMany: (acks) =>
      Effect.suspend(() => {
        calls.push(acks.map(({ id }) => id))
        return ackMany?.(acks) ?? Effect.succeed(acks.map(verdict))
      })
  })
  return { calls, store }
}

/** The ends of acks of these ids that are made in one turn, by the tag of their errors. */
const endsOf = (ack: JobStore.Service["ack"], ids: ReadonlyArray<string>) =>
  Effect.forEach(
    ids,
    (id) =>
      Effect.match(ack(id, "token", complete()), {
        onFailure: (error) => (error._tag === "JobStoreError" ? error.message : `${error._tag} ${error.jobId}`),
        onSuccess: () => "done"
      }),
    { concurrency: "unbounded" }
  )

describe("acks of one turn of the event loop", () => {
  it.effect("go as one call, and each caller gets its own end", () =>
    Effect.gen(function* () {
      const { calls, store } = recording()
      const ids = ["a", "lost-1", "b", "unknown-1", "lost-2"]
      const ends = yield* endsOf(gatherAcks(store, maxMessageBytes), ids)
      assert.deepStrictEqual(ends, [
        "done",
        "LockLostError lost-1",
        "done",
        "JobNotFoundError unknown-1",
        "LockLostError lost-2"
      ])
      assert.deepStrictEqual(calls, [ids])
    })
  )

  it.effect("are handed over whole, in their order", () =>
    Effect.gen(function* () {
      const given: Array<ReadonlyArray<Ack>> = []
      const { store } = recording((acks) => {
        given.push(acks)
        return Effect.succeed(acks.map(verdict))
      })
      const ack = gatherAcks(store, maxMessageBytes)
      const outcomes: ReadonlyArray<AckOutcome> = [complete({ n: 1 }), { _tag: "Retry", delayMs: 5, exit: null }]
      yield* Effect.forEach(outcomes, (outcome, index) => ack(`id-${index}`, `token-${index}`, outcome), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(given, [
        outcomes.map((outcome, index) => ({ id: `id-${index}`, token: `token-${index}`, outcome }))
      ])
    })
  )

  it.effect("that come one after the other stay single calls", () =>
    Effect.gen(function* () {
      const { calls, store } = recording()
      const ack = gatherAcks(store, maxMessageBytes)
      yield* ack("a", "token", complete())
      const lost = yield* Effect.flip(ack("lost", "token", complete()))
      assert.instanceOf(lost, LockLostError)
      assert.deepStrictEqual(calls, ["a", "lost"])
    })
  )

  it.effect("are cut where a message would be long, and one that is big by itself goes alone", () =>
    Effect.gen(function* () {
      const { calls, store } = recording()
      const ack = gatherAcks(store, maxMessageBytes)
      const exits = ["small", "small", "x".repeat(100_000), "small", "y".repeat(40_000), "z".repeat(40_000), "small"]
      yield* Effect.forEach(exits, (exit, index) => ack(`${index}`, "token", complete(exit)), {
        concurrency: "unbounded"
      })
      assert.sameDeepMembers(calls, [["0", "1"], "2", ["3", "4"], ["5", "6"]])
    })
  )

  it.effect("keep below a part of what a message may have", () =>
    Effect.gen(function* () {
      const { calls, store } = recording()
      const ack = gatherAcks(store, 4_000)
      yield* Effect.forEach(["a", "b", "c", "d"], (id) => ack(id, "token", complete("x".repeat(100))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(calls, [
        ["a", "b"],
        ["c", "d"]
      ])
    })
  )

  it.effect("begin a call when there are very many, and the rest follows", () =>
    Effect.gen(function* () {
      const { calls, store } = recording()
      const ids = Array.from({ length: 150 }, (_, index) => `${index}`)
      yield* endsOf(gatherAcks(store, maxMessageBytes), ids)
      assert.deepStrictEqual(calls, [ids.slice(0, 64), ids.slice(64, 128), ids.slice(128)])
    })
  )
})

const failing = (reason: JobStoreErrorReason) => Effect.fail(new JobStoreError({ message: reason._tag, reason }))

const passing: ReadonlyArray<JobStoreErrorReason> = [
  { _tag: "Unavailable", url: undefined, sent: true },
  { _tag: "Unavailable", url: undefined, sent: false },
  { _tag: "DeadlineExceeded", url: undefined, afterMs: 1 },
  { _tag: "DriverFault", transient: true }
]

const lasting: ReadonlyArray<JobStoreErrorReason> = [
  { _tag: "InvalidArgument", field: "acks" },
  { _tag: "LimitExceeded", field: "message", limit: 1, size: 2 },
  { _tag: "Unauthorized" },
  { _tag: "Forbidden", scope: "work" },
  { _tag: "DriverFault", transient: false },
  { _tag: "Defect" }
]

describe("a gathered call that fails", () => {
  for (const reason of passing) {
    it.effect(`by ${JSON.stringify(reason)} fails every caller by that error`, () =>
      Effect.gen(function* () {
        const { calls, store } = recording(() => failing(reason))
        const ack = gatherAcks(store, maxMessageBytes)
        const errors = yield* Effect.forEach(["a", "b"], (id) => errorOf(ack(id, "token", complete())), {
          concurrency: "unbounded"
        })
        for (const error of errors) assert.deepStrictEqual(error.reason, reason)
        assert.deepStrictEqual(calls, [["a", "b"]])
      })
    )
  }

  for (const reason of lasting) {
    it.effect(`by ${JSON.stringify(reason)} is made again by each caller alone, for its own end`, () =>
      Effect.gen(function* () {
        const { calls, store } = recording(() => failing(reason))
        const ends = yield* endsOf(gatherAcks(store, maxMessageBytes), ["a", "lost", "b"])
        assert.deepStrictEqual(ends, ["done", "LockLostError lost", "done"])
        assert.deepStrictEqual(calls, [["a", "lost", "b"], "a", "lost", "b"])
      })
    )
  }

  it.effect("by a short answer is made again by those that it leaves out", () =>
    Effect.gen(function* () {
      const { calls, store } = recording((acks) => Effect.succeed(acks.slice(0, 1).map(verdict)))
      assert.deepStrictEqual(yield* endsOf(gatherAcks(store, maxMessageBytes), ["a", "b"]), ["done", "done"])
      assert.deepStrictEqual(calls, [["a", "b"], "b"])
    })
  )
})

/** A store whose `ackMany` begins, and goes on when the test says so. */
const held = Effect.gen(function* () {
  const begun = yield* Queue.unbounded<ReadonlyArray<string>>()
  const interrupted = yield* Deferred.make<void>()
  const goOn = yield* Deferred.make<void>()
  const { store } = recording((acks) =>
    Queue.offer(
      begun,
      acks.map(({ id }) => id)
    ).pipe(
      Effect.andThen(Deferred.await(goOn)),
      Effect.as(acks.map(verdict)),
      Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
    )
  )
  return {
    store,
    begun: Queue.take(begun),
    interrupted: Deferred.await(interrupted),
    goOn: Deferred.succeed(goOn, undefined)
  }
})

const forkAcks = (ack: JobStore.Service["ack"], ids: ReadonlyArray<string>) =>
  Effect.forEach(ids, (id) => Effect.forkChild(ack(id, "token", complete()), { startImmediately: true }))

describe("a caller that goes away", () => {
  it.effect("before its turn is over is left out", () =>
    Effect.gen(function* () {
      const { calls, store } = recording()
      const [a, b, c] = yield* forkAcks(gatherAcks(store, maxMessageBytes), ["a", "b", "c"])
      assert(a !== undefined && b !== undefined && c !== undefined)
      b.interruptUnsafe()
      yield* Fiber.join(a)
      yield* Fiber.join(c)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(b)))
      assert.deepStrictEqual(calls, [["a", "c"]])
    })
  )

  it.effect("while the call is under way harms no other", () =>
    Effect.gen(function* () {
      const { begun, goOn, store } = yield* held
      const [a, b, lost] = yield* forkAcks(gatherAcks(store, maxMessageBytes), ["a", "b", "lost"])
      assert(a !== undefined && b !== undefined && lost !== undefined)
      assert.deepStrictEqual(yield* begun, ["a", "b", "lost"])
      yield* Fiber.interrupt(a)
      yield* goOn
      yield* Fiber.join(b)
      assert.instanceOf(yield* Effect.flip(Fiber.join(lost)), LockLostError)
    })
  )

  it.effect("with all others ends the call", () =>
    Effect.gen(function* () {
      const { begun, interrupted, store } = yield* held
      const fibers = yield* forkAcks(gatherAcks(store, maxMessageBytes), ["a", "b"])
      yield* begun
      yield* Fiber.interruptAll(fibers)
      yield* interrupted
    })
  )
})

describe.each(ways)("over $name", ({ make }) => {
  it.live("acks of one moment go as one message", () =>
    Effect.gen(function* () {
      const { calls, store } = recording()
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url })
      const ends = yield* endsOf(remote.ack, ["a", "lost", "unknown"])
      assert.deepStrictEqual(ends, ["done", "LockLostError lost", "JobNotFoundError unknown"])
      assert.deepStrictEqual(calls, [["a", "lost", "unknown"]])
    })
  )

  it.live("they go each alone when that is asked for", () =>
    Effect.gen(function* () {
      const { calls, store } = recording()
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url, gatherAcks: false })
      assert.deepStrictEqual(yield* endsOf(remote.ack, ["a", "lost"]), ["done", "LockLostError lost"])
      assert.sameMembers(calls, ["a", "lost"])
    })
  )

  it.live("what is wrong with one is told to that one", () =>
    Effect.gen(function* () {
      const { store } = recording()
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url })
      // From a program without types.
      const bad: ReadonlyArray<AckOutcome> = [JSON.parse('{"_tag":"Bogus"}'), complete(Number.NaN)]
      const exits = yield* Effect.forEach(
        [complete(1), ...bad, complete(2)],
        (outcome, index) => Effect.exit(remote.ack(`${index}`, "token", outcome)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, false, true])
      for (const exit of exits.slice(1, 3)) {
        const error = yield* errorOf(exit)
        assert.strictEqual(error.reason._tag, "InvalidArgument")
        assert.notInclude(error.message, "ackMany")
      }
    })
  )

  it.live("a deadline that passes is that of each, and ends the call on the server", () =>
    Effect.gen(function* () {
      const { interrupted, store } = yield* held
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url, callTimeout: 200 })
      const errors = yield* Effect.forEach(["a", "b", "c"], (id) => errorOf(remote.ack(id, "token", complete())), {
        concurrency: "unbounded"
      })
      for (const error of errors) assert.deepInclude(error.reason, { _tag: "DeadlineExceeded", afterMs: 200 })
      yield* interrupted
    })
  )

  it.live("a server that goes away fails each, as it fails a single call", () =>
    Effect.gen(function* () {
      const { begun, store } = yield* held
      const server = yield* serve(store)
      const remote = yield* make({ url: server.url })
      const fibers = yield* Effect.forEach(["a", "b"], (id) =>
        Effect.forkChild(errorOf(remote.ack(id, "token", complete())), { startImmediately: true })
      )
      yield* begun
      yield* server.stop
      for (const fiber of fibers) {
        const error = yield* Fiber.join(fiber)
        assert.deepInclude(error.reason, { _tag: "Unavailable", sent: true })
        assert.isTrue(error.mayHaveHappened)
      }
    })
  )

  it.live("closing the store ends each by an error that says so", () =>
    Effect.gen(function* () {
      const { begun, store } = yield* held
      const server = yield* serve(store)
      const fibers = yield* Effect.scoped(
        Effect.gen(function* () {
          const remote = yield* make({ url: server.url })
          const fibers = yield* Effect.forEach(["a", "b"], (id) =>
            Effect.forkDetach(errorOf(remote.ack(id, "token", complete())), { startImmediately: true })
          )
          yield* begun
          return fibers
        })
      )
      for (const fiber of fibers) assert.include((yield* Fiber.join(fiber)).message, "was closed")
    })
  )
})
