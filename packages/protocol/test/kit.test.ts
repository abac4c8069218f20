/** The assertions of the suite's kit: that they fail when they should. */
import { assert, describe, it } from "@effect/vitest"
import {
  type ClaimResult,
  EnqueueRequest,
  type JobNotFoundError,
  JobRecord,
  JobStore,
  JobStoreError,
  LockLostError
} from "@jobwire/protocol"
import { Cause, Clock, Deferred, Effect, Exit, Fiber, Layer, Option } from "effect"
import * as Kit from "../src/testing/kit.ts"

/** A store that has only what a test gives it. */
const storeOf = (operations: Partial<JobStore.Service>): JobStore.Service =>
  // The kit calls nothing else, which the tests would show.
  operations as JobStore.Service

const job = { ...Kit.recordOf("there", Kit.request()), exit: 1 }
const oneJob = storeOf({
  getJob: (id) => Effect.succeed(id === "there" ? Option.some(job) : Option.none()),
  getAttempts: () => Effect.succeed([])
})

const claiming = (result: ClaimResult) => storeOf({ claim: () => Effect.succeed(result) })
const empty = claiming({ _tag: "Empty", nextRunAt: undefined, wakeToken: "w" })
const claimed = claiming({ _tag: "Claimed", job })

const lost: Effect.Effect<never, LockLostError | JobNotFoundError> = Effect.fail(new LockLostError({ jobId: "j" }))
const fine: Effect.Effect<number, LockLostError> = Effect.succeed(5)
const dying: Effect.Effect<never, LockLostError> = Effect.die("defect")
const refused = Effect.fail(new JobStoreError({ message: "no", reason: { _tag: "InvalidArgument", field: "f" } }))

/** Assertions that hold, and like ones that do not, with what their message must say. */
const pairs: Record<
  string,
  readonly [good: Effect.Effect<unknown, unknown>, bad: Effect.Effect<unknown, unknown>, RegExp]
> = {
  find: [Kit.find(oneJob, "there"), Kit.find(oneJob, "missing"), /no job missing/],
  isGone: [Kit.isGone(oneJob, "missing"), Kit.isGone(oneJob, "there"), /there is still there, waiting/],
  isJob: [Kit.isJob(oneJob, "there", { exit: 1 }), Kit.isJob(oneJob, "there", { exit: undefined }), /job there/],
  areStates: [
    Kit.areStates(oneJob, { there: "waiting", missing: "gone" }),
    Kit.areStates(oneJob, { there: "gone" }),
    /waiting|gone/
  ],
  isLedger: [
    Kit.isLedger(oneJob, "there", []),
    Kit.isLedger(oneJob, "there", [Kit.run(1, "completed")]),
    /ledger of job there/
  ],
  take: [Kit.take(claimed), Kit.take(empty), /claim found no job/],
  takeNothing: [Kit.takeNothing(empty), Kit.takeNothing(claimed), /claim gave job there/],
  add: [
    Kit.add(storeOf({ enqueue: () => Effect.succeed({ id: "a", duplicate: false }) })),
    Kit.add(storeOf({ enqueue: () => Effect.succeed({ id: "a", duplicate: true }) })),
    /job a is a duplicate/
  ],
  "failsWith, of a success": [
    Kit.failsWith(lost, "LockLostError"),
    Kit.failsWith(fine, "LockLostError"),
    /succeeded with 5/
  ],
  "failsWith, of another tag": [
    Kit.failsWith(lost, "LockLostError"),
    Kit.failsWith(lost, "JobNotFoundError"),
    /expected JobNotFoundError, and it failed with/
  ],
  "failsWith, of a defect": [
    Kit.failsWith(lost, "LockLostError"),
    Kit.failsWith(dying, "LockLostError"),
    /expected LockLostError, and it failed with/
  ],
  refusedFor: [Kit.refusedFor(refused, "InvalidArgument"), Kit.refusedFor(refused, "LimitExceeded"), /no/]
}

describe("assertions of the kit", () => {
  for (const [name, [good, bad, message]] of Object.entries(pairs)) {
    it.effect(`${name} passes what is right and fails with a message what is not`, () =>
      Effect.gen(function* () {
        yield* good
        const exit = yield* Effect.exit(bad)
        if (Exit.isSuccess(exit)) return assert.fail("it passed")
        assert.match(Cause.pretty(exit.cause), message)
      })
    )
  }

  it.effect("isParked tells a fiber that waits from one that has ended", () =>
    Effect.gen(function* () {
      const latch = yield* Deferred.make<void>()
      const fiber = yield* Effect.forkChild(Deferred.await(latch))
      yield* Kit.isParked(fiber, "the wait")
      yield* Deferred.succeed(latch, undefined)
      yield* Fiber.join(fiber)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Kit.isParked(fiber, "the wait"))))
    })
  )

  it("pick takes the fields that are named, also those that are undefined", () => {
    assert.deepStrictEqual(Kit.pick({ a: 1, b: undefined, c: 3 }, { a: 9, b: undefined }), { a: 1, b: undefined })
  })

  it("unique gives no name twice", () => {
    const names = Array.from({ length: 100 }, () => Kit.unique("name"))
    assert.lengthOf(new Set(names), 100)
  })

  it("recordOf has every field of a record and no other", () => {
    const record = Kit.recordOf("id", EnqueueRequest.make({ name: "n", queue: "q" }))
    assert.sameMembers(Object.keys(record), Object.keys(JobRecord.fields))
  })
})

describe("tests of the kit", () => {
  let built = 0
  const layer = () =>
    Layer.sync(JobStore.JobStore, () => {
      built++
      return oneJob
    })
  const test = Kit.testWith(layer)

  for (const round of [1, 2]) {
    test(`each builds the layer anew, and starts at the same time (${round})`, (store) =>
      Effect.gen(function* () {
        assert.strictEqual(store, oneJob)
        assert.strictEqual(built, round)
        assert.strictEqual(yield* Clock.currentTimeMillis, Kit.start)
        yield* Kit.pass(5)
        assert.strictEqual(yield* Clock.currentTimeMillis, Kit.start + 5)
      }))
  }
})
