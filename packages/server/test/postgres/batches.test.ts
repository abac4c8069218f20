/** Calls that come together share a transaction, and still each is answered as if they had come one after the other. */
import { EnqueueRequest, type JobStore } from "@jobwire/protocol"
import { Effect, type Exit } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { assert, it } from "vitest"
import * as MemoryJobStore from "../../src/drivers/memory/MemoryJobStore.ts"
import { seed } from "../core/support/property.ts"
import * as Commands from "../embedded/commands.ts"
import { listAll } from "../sqlite/wide-commands.ts"
import { brokenRules } from "./support/invariants.ts"
import { freshUnits } from "./support/units.ts"

const { command, ms } = Commands

// A world so small that what comes together is mostly about the same few jobs.
const ids = ["a", "b", "c"]
const id = fc.constantFrom(...ids)
const token = fc.constantFrom("t1", "t2")
const tokens = fc.constantFrom(["t1"], ["t1", "t2"], ["t3", "t4", "t5"])
const queue = fc.constantFrom("q1", "q1", "q1", "q2")
const name = fc.constantFrom("n1", "n1", "n1", "n2")
const names = fc.constantFrom(["n1", "n2"], ["n1"], ["n2"])
const key = fc.constantFrom("k1", "k2")
const lockDurationMs = 10

// An id that a store draws is another in each of them, so each request has one.
const request = fc
  .record({
    request: Commands.request,
    id,
    queue,
    name,
    payload: fc.nat({ max: 99 }),
    metadata: fc.constantFrom<Record<string, string>>({}, { m: "1" }, { m: "2" })
  })
  .map(({ request, ...fields }) => EnqueueRequest.make(Object.assign({}, request, fields)))

/** Calls that are one unit of work each. */
const unit: fc.Arbitrary<Commands.Command> = fc.oneof(
  { weight: 12, arbitrary: command("enqueue", request, (store, value) => store.enqueue(value)) },
  {
    weight: 2,
    arbitrary: command("enqueueMany", fc.array(request, { maxLength: 4 }), (store, all) => store.enqueueMany(all))
  },
  {
    weight: 16,
    arbitrary: command("claim", fc.record({ queue, names, token }), (store, options) =>
      store.claim({ ...options, lockDurationMs })
    )
  },
  {
    weight: 3,
    arbitrary: command("claimMany", fc.record({ queue, names, tokens }), (store, options) =>
      store.claimMany({ ...options, lockDurationMs })
    )
  },
  {
    weight: 24,
    arbitrary: command("ack", fc.tuple(id, token, Commands.outcome), (store, ack) => store.ack(...ack))
  },
  {
    weight: 3,
    arbitrary: command(
      "ackMany",
      fc.array(fc.record({ id, token, outcome: Commands.outcome }), { maxLength: 6 }),
      (store, acks) => store.ackMany(acks)
    )
  },
  command("release", fc.tuple(id, token), (store, held) => store.release(...held)),
  command("extendLocks", fc.array(fc.record({ id, token }), { maxLength: 3 }), (store, locks) =>
    store.extendLocks(locks, lockDurationMs)
  ),
  command("recoverStalled", fc.nat({ max: 1 }), (store, maxStalledCount) => store.recoverStalled({ maxStalledCount })),
  { weight: 3, arbitrary: command("cancel", id, (store, id) => store.cancel(id)) },
  command("cancelByDedupe", fc.tuple(name, key), (store, key) => store.cancelByDedupe(...key)),
  { weight: 8, arbitrary: command("retry", id, (store, id) => store.retry(id)) },
  { weight: 2, arbitrary: command("promote", id, (store, id) => store.promote(id)) },
  { weight: 2, arbitrary: command("remove", id, (store, id) => store.remove(id)) },
  command("pause", queue, (store, queue) => store.pause(queue)),
  command("resume", queue, (store, queue) => store.resume(queue)),
  {
    weight: 4,
    arbitrary: command("report", fc.array(fc.tuple(id, Commands.report), { maxLength: 3 }), (store, reports) =>
      store.recordChildResults(reports.map(([flowId, report]) => ({ ...report, flowId })))
    )
  },
  command("sweep", ms, (store, pendingAgeMs) => store.flowSweepWork({ pendingAgeMs, limit: 2 })),
  command("cascade", fc.tuple(id, fc.subarray(["x", "y"])), (store, child) => store.markChildrenCascaded(...child))
)

/** Calls that come together, and how much time passes before them. */
interface Batch {
  readonly passed: number
  readonly units: ReadonlyArray<Commands.Command>
}

const batch: fc.Arbitrary<Batch> = fc.record({
  passed: ms,
  units: fc.array(unit, { minLength: 1, maxLength: 16, size: "max" })
})

// Wake tokens name the store that gave them.
const withoutTokens = (answer: unknown): unknown =>
  typeof answer === "object" && answer !== null
    ? Object.fromEntries(
        Object.entries(answer).map(([key, value]) => [
          key,
          key === "wakeToken" ? "" : key === "empty" ? withoutTokens(value) : value
        ])
      )
    : answer

const runAll = (
  store: JobStore.Service,
  units: ReadonlyArray<Commands.Command>,
  concurrency: 1 | "unbounded"
): Effect.Effect<ReadonlyArray<Exit.Exit<unknown, unknown>>> =>
  Effect.forEach(units, (unit) => Effect.exit(Effect.map(unit.run(store), withoutTokens)), { concurrency })

/** All that a store shows, but for the numbers of its outbox, which each store draws in its own way. */
const look = Effect.fnUntraced(function* (store: JobStore.Service) {
  const jobs = yield* listAll(store, { orderBy: "enqueuedAt", order: "asc" })
  const outbox = yield* store.peekOutbox({ limit: 1000 })
  return {
    jobs,
    ledgers: yield* Effect.forEach(ids, (id) => store.getAttempts(id)),
    children: yield* Effect.forEach(ids, (id) => store.listChildResults(id)),
    outbox: outbox.map(({ flowName, parentStoreKey, report }) => ({ flowName, parentStoreKey, report })),
    counts: yield* store.counts(),
    paused: yield* store.pausedQueues()
  }
})

const holds = (batches: ReadonlyArray<Batch>): Promise<void> =>
  Effect.gen(function* () {
    const memory = yield* MemoryJobStore.make()
    const { number, store } = yield* freshUnits
    for (const { passed, units } of batches) {
      yield* TestClock.adjust(passed)
      const expected = yield* runAll(memory, units, 1)
      const actual = yield* runAll(store, units, "unbounded")
      for (const [index, unit] of units.entries()) {
        assert.deepStrictEqual(actual[index], expected[index], `${index}: ${String(unit)}`)
      }
    }
    assert.deepStrictEqual(yield* look(store), yield* look(memory))
    assert.deepStrictEqual(yield* brokenRules(number), [])
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.runPromise)

it(
  `calls that come together are answered as if they came one after the other, and leave the same behind (seed ${seed})`,
  () =>
    fc.assert(fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 16, size: "max" }), holds), {
      seed,
      numRuns: 60,
      interruptAfterTimeLimit: 90_000
    }),
  120_000
)
