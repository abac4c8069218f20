/** Keeping the leases of a worker, and stopping a handler before another worker can have its job. */
import { assert, describe, it } from "@effect/vitest"
import { LeaseGuard } from "@jobwire/client"
import { EnqueueRequest, JobStore, JobStoreError, Limits } from "@jobwire/protocol"
import { MemoryJobStore } from "@jobwire/server"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"

const leaseMs = 30_000
const marginMs = 2_000

const away = Effect.fail(
  new JobStoreError({ message: "the server is away", reason: { _tag: "Unavailable", url: undefined, sent: true } })
)

/** A store in memory with one job, claimed; its heartbeats, and the guard that holds the job. */
const guarded = Effect.fnUntraced(function* (
  extendLocks?: (real: JobStore.Service) => JobStore.Service["extendLocks"],
  claimTakesMs = 0
) {
  const real = Context.get(yield* Layer.build(MemoryJobStore.layer), JobStore.JobStore)
  yield* real.enqueue(EnqueueRequest.make({ id: "one", name: "job", queue: "q" }))
  const beats: Array<number> = []
  const problems: Array<string | undefined> = []
  const extend = extendLocks?.(real) ?? real.extendLocks
  const store: JobStore.Service = {
    ...real,
    extendLocks: (...args) =>
      Effect.andThen(
        Effect.clockWith((clock) => Effect.sync(() => beats.push(clock.currentTimeMillisUnsafe()))),
        extend(...args)
      )
  }
  const guard = LeaseGuard.make(store, {
    leaseMs,
    marginMs,
    onHeartbeat: (problem) => Effect.sync(() => problems.push(problem?.message))
  })
  const askedAt = yield* LeaseGuard.monotonicMs
  const claim = yield* real.claim({ queue: "q", names: ["job"], token: "t", lockDurationMs: leaseMs })
  if (claim._tag === "Empty") return yield* Effect.die("there is no job")
  yield* TestClock.adjust(claimTakesMs)
  const lease = guard.hold(claim.job, "t", askedAt)
  yield* Effect.forkScoped(guard.keep)
  return { real, guard, lease, beats, problems }
})

/** Runs a handler that never ends by itself; says whether it has been stopped. */
const runForever = Effect.fnUntraced(function* ({ guard, lease }: Effect.Success<ReturnType<typeof guarded>>) {
  let isStopped = false
  const handler = Effect.onInterrupt(Effect.never, () => Effect.sync(() => void (isStopped = true)))
  const fiber = yield* Effect.forkChild(Effect.exit(guard.run(lease, handler)), { startImmediately: true })
  return { fiber, isStopped: () => isStopped }
})

const ended = (why: LeaseGuard.Interruption) => Exit.fail(new LeaseGuard.LeaseEnded({ jobId: "one", why }))

describe("a lease", () => {
  it.effect("is kept by a heartbeat at each third of it, for as long as the handler runs", () =>
    Effect.gen(function* () {
      const { beats, guard, lease, problems, real } = yield* guarded()
      const fiber = yield* Effect.forkChild(guard.run(lease, Effect.as(Effect.sleep("10 minutes"), "done")))
      yield* TestClock.adjust("5 minutes")
      assert.isUndefined(fiber.pollUnsafe())
      assert.deepStrictEqual(yield* real.recoverStalled({ maxStalledCount: 1 }), [])
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
      assert.deepStrictEqual(beats.slice(0, 4), [0, 10_000, 20_000, 30_000])
      assert.deepStrictEqual(new Set(problems), new Set([undefined]))
      const after = beats.length
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(beats.length, after)
    })
  )

  it.effect("that cannot be renewed stops its handler before it ends, and not much before", () =>
    Effect.gen(function* () {
      let isAway = false
      const held = yield* guarded(
        (real) =>
          (...args) =>
            isAway ? away : real.extendLocks(...args)
      )
      const { fiber, isStopped } = yield* runForever(held)
      yield* TestClock.adjust(25_000)
      isAway = true
      // The last heartbeat that got through was asked for at 20 s.
      yield* TestClock.adjust(22_999)
      assert.isFalse(isStopped())
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(fiber), ended("unreachable"))
      assert.isTrue(isStopped())
      assert.deepStrictEqual(yield* held.real.recoverStalled({ maxStalledCount: 1 }), [])
      assert.include(held.problems, "the server is away")
    })
  )

  it.effect("counts from before its claim was sent, however long the answer took", () =>
    Effect.gen(function* () {
      const held = yield* guarded(() => () => away, 12_000)
      assert.strictEqual(yield* held.lease.ageMs, 12_000)
      const { fiber, isStopped } = yield* runForever(held)
      yield* TestClock.adjust(15_999)
      assert.isFalse(isStopped())
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(fiber), ended("unreachable"))
      assert.deepStrictEqual(yield* held.lease.interruptedBy, Option.some("unreachable"))
    })
  )

  it.effect("counts a heartbeat from before it was sent too, and the next does not wait for one that hangs", () =>
    Effect.gen(function* () {
      let hangs = false
      const held = yield* guarded(
        (real) =>
          (...args) =>
            hangs ? Effect.never : real.extendLocks(...args)
      )
      const { fiber, isStopped } = yield* runForever(held)
      hangs = true
      yield* TestClock.adjust(27_999)
      assert.isFalse(isStopped())
      assert.deepStrictEqual(held.beats, [0, 12_500, 25_000])
      assert.include(held.problems, "no answer to a heartbeat within 10000 ms")
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* Fiber.join(fiber), ended("unreachable"))
    })
  )

  it.effect("that somebody else took stops its handler at the next heartbeat", () =>
    Effect.gen(function* () {
      const held = yield* guarded()
      const { fiber } = yield* runForever(held)
      yield* held.real.release("one", "t")
      yield* TestClock.adjust(10_000)
      assert.deepStrictEqual(yield* Fiber.join(fiber), ended("lost"))
    })
  )

  it.effect("of a job that is to be cancelled stops its handler at the next heartbeat, after its finalizers", () =>
    Effect.gen(function* () {
      const { guard, lease, real } = yield* guarded()
      const cleaned = yield* Deferred.make<void>()
      const handler = Effect.onInterrupt(Effect.never, () => Deferred.await(cleaned))
      const fiber = yield* Effect.forkChild(Effect.exit(guard.run(lease, handler)), { startImmediately: true })
      yield* real.cancel("one")
      yield* TestClock.adjust(10_000)
      assert.isUndefined(fiber.pollUnsafe())
      yield* Deferred.succeed(cleaned, undefined)
      const exit = yield* Fiber.join(fiber)
      assert.deepStrictEqual(exit, ended("cancelled"))
      assert.deepStrictEqual(yield* lease.interruptedBy, Option.some("cancelled"))
    })
  )
})

it.effect("more leases than one call may name are kept by several", () =>
  Effect.gen(function* () {
    const { batchLength } = Limits.defaults
    const sizes: Array<number> = []
    const { guard, lease } = yield* guarded(() => (locks) => {
      sizes.push(locks.length)
      return Effect.succeed({ lost: [], cancelRequested: [] })
    })
    const askedAt = yield* LeaseGuard.monotonicMs
    for (let at = 0; at < batchLength; at++) guard.hold({ ...lease.job, id: `job-${at}` }, `token-${at}`, askedAt)
    yield* guard.beat
    assert.deepStrictEqual(sizes.slice(-2), [batchLength, 1])
  })
)
