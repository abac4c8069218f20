/** Where a statement decides, it decides like the core: random rows through both, and the rows compared. */
import type { Ack, AckOutcome, EnqueueRequest, JobState } from "@jobwire/protocol"
import { Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { acknowledge } from "../../src/core/Ack.ts"
import { claim } from "../../src/core/Claim.ts"
import { newJob } from "../../src/core/Enqueue.ts"
import type { JobRow } from "../../src/core/JobRow.ts"
import { extend, holds } from "../../src/core/Lease.ts"
import { makeRoom } from "../../src/core/Page.ts"
import { promoteDue } from "../../src/core/Promote.ts"
import { jobBytes, jobRecord } from "../../src/drivers/embedded/Records.ts"
import { isPlain } from "../../src/drivers/postgres/JobColumns.ts"
import { seed } from "../core/support/property.ts"
import { request, row } from "../core/support/rows.ts"
import * as HotServer from "./support/hot-store.ts"
import type { Placed, Stored } from "./support/hot-store.ts"

const now = 5_000_000
const lockDurationMs = 1234.5
const scope = Scope.makeUnsafe()
let server: HotServer.HotServer

beforeAll(async () => {
  server = await Effect.runPromise(Scope.provide(HotServer.make, scope))
})

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const property = <A>(
  rule: string,
  input: fc.Arbitrary<A>,
  holds: (input: A) => Effect.Effect<void, unknown>,
  numRuns: number
): void => {
  const atNow = (value: A) =>
    Effect.andThen(TestClock.setTime(now), holds(value)).pipe(Effect.provide(TestClock.layer()))
  it(`${rule} (seed ${seed})`, { timeout: 240_000 }, () =>
    fc.assert(
      fc.asyncProperty(input, (value) => Effect.runPromise(atNow(value))),
      { seed, numRuns }
    )
  )
}

// Characters that JSON escapes, that take several bytes, and that jsonb writes in its own way.
const text = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom("", "a", '"', "\\", "\n\t\b", "\u0001", "é", "𝄞", "a:b, c")
)
const word = text.map((value) => value.replaceAll("\0", ""))
// Once V8 13 has parsed an object with a backslash for a key, it takes every key of one escaped character for a backslash.
const key = word.filter((key) => key !== "\\" && key !== "__proto__")
const metadata = fc.dictionary(key, word, { maxKeys: 3 })
const payload = fc.option(fc.oneof(fc.constant(null), fc.integer(), word, fc.array(word, { maxLength: 5 })), {
  nil: undefined
})
const name = fc.constantFrom("a", "a", "b", "c")
const priority = fc.constantFrom(0, 0, 0, 5, -1, 1.5)
const count = fc.nat({ max: 3 })

const common = fc.record({
  name,
  priority,
  payload: payload.map((value) => JSON.stringify(value)),
  metadata,
  attemptsMade: count,
  stalledCount: count,
  ledgerLength: count,
  backoff: fc.constantFrom(undefined, { _tag: "fixed" as const, delayMs: 10, factor: undefined }),
  timeoutMs: fc.constantFrom(undefined, 50),
  trace: fc.constantFrom(undefined, { traceId: "t", spanId: "s", sampled: true, delayed: false })
})

const bound = fc.constantFrom(
  {},
  {},
  {},
  { keep: { completed: { count: 1, ageMs: undefined }, failed: undefined, cancelled: undefined } },
  { dedupeKey: "key" },
  { parent: { flowName: "flow", flowId: "up", childKey: "child", parentStoreKey: "store", depth: 1 } }
)

const ofState: Readonly<Record<"waiting" | "delayed" | "active", fc.Arbitrary<Partial<JobRow>>>> = {
  waiting: fc.record({ runAt: fc.constant(now - 10) }),
  delayed: fc.record({ runAt: fc.constantFrom(now - 5, now, now + 1, now + 70, now + 900) }),
  active: fc.record({
    lockUntil: fc.constantFrom(now - 1, now + 100),
    processedAt: fc.constant(now - 100),
    cancelRequested: fc.boolean()
  })
}

/** Jobs with different numbers, whose places are in another order. */
const jobs = (states: ReadonlyArray<keyof typeof ofState>, maxLength: number): fc.Arbitrary<ReadonlyArray<Placed>> =>
  fc
    .array(
      fc.constantFrom(...states).chain((state) =>
        fc.record({
          state: fc.constant<JobState>(state),
          common,
          bound,
          special: ofState[state],
          hasReturned: fc.boolean()
        })
      ),
      { maxLength }
    )
    .chain((items) =>
      fc
        .shuffledSubarray(
          items.map((_, index) => 100 + index),
          { minLength: items.length }
        )
        .map((places) =>
          items.map(({ bound, common, hasReturned, special, state }, index) => ({
            hasReturned,
            job: row({
              id: `job-${index}`,
              seq: 1 + index,
              place: places[index] ?? 0,
              state,
              ...common,
              ...bound,
              ...special,
              token: state === "active" ? `t${index}` : undefined
            })
          }))
        )
    )

const expectJobs = (stored: ReadonlyMap<string, Stored>, expected: ReadonlyArray<JobRow>): void => {
  assert.deepStrictEqual<ReadonlyArray<JobRow | undefined>>(
    expected.map(({ id }) => stored.get(id)?.job),
    expected
  )
  assert.strictEqual(stored.size, expected.length)
}

/** By how many jobs each state has grown. */
const growth = (before: ReadonlyArray<JobRow>, after: ReadonlyArray<JobRow>): Readonly<Record<string, number>> => {
  const of = (state: JobState) =>
    after.filter((job) => job.state === state).length - before.filter((job) => job.state === state).length
  return {
    waiting: of("waiting"),
    delayed: of("delayed"),
    active: of("active"),
    "waiting-children": of("waiting-children"),
    completed: of("completed"),
    failed: of("failed"),
    cancelled: of("cancelled")
  }
}

/** The token of a job that is active, or one that holds nothing. */
const lockOf = (number: number, isOwn: boolean) => ({ id: `job-${number}`, token: isOwn ? `t${number}` : "another" })
const isOwn = fc.constantFrom(true, true, true, false)

const inLine = (one: JobRow, other: JobRow): number => other.priority - one.priority || one.place - other.place

describe("claims", () => {
  property(
    "take the best of what waits once what is due is promoted, in the order of their tokens, and no more than a page",
    fc.record({
      placed: jobs(["waiting", "waiting", "waiting", "delayed", "active"], 14),
      names: fc.constantFrom<ReadonlyArray<string>>(["a"], ["a"], ["a", "b"], ["c", "b", "a", "b"], ["x", "a"], ["x"]),
      tokens: fc.integer({ min: 1, max: 8 }),
      pageBytes: fc.constantFrom(1_000_000, 20, 40, 60),
      isRepeated: fc.boolean()
    }),
    Effect.fnUntraced(function* ({ isRepeated, names, pageBytes, placed, tokens }) {
      const store = yield* server.store(placed, { limits: { pageBytes } })
      const promoted = placed.map(({ job }) =>
        job.state === "delayed" && job.runAt <= now ? promoteDue(job).row : job
      )
      const line = promoted.filter((job) => job.state === "waiting" && names.includes(job.name)).toSorted(inLine)
      const room = makeRoom({ length: tokens, bytes: pageBytes })
      let isFull = false
      const best = line.slice(0, tokens).filter((job) => {
        isFull ||= !room.takes(tokens === 1 ? 0 : jobBytes(job))
        return !isFull
      })
      const drawn = Array.from({ length: tokens }, (_, index) => `token ${index}`)
      const taken = best.map((job, index) => claim(job, drawn[index] ?? "", lockDurationMs, now))
      const after = promoted.map((job) => taken.find(({ id }) => id === job.id) ?? job)

      const claims = { queue: "queue", names, tokens: drawn, lockDurationMs }
      const result = yield* store.operations.claimMany(claims)
      assert.deepStrictEqual(
        result.jobs,
        taken.map((job, index) => ({ token: drawn[index] ?? "", job: jobRecord(job) }))
      )
      for (const job of taken) assert.strictEqual(store.known(job.token ?? "", job.id), job.seq)
      assert.strictEqual(result.empty !== undefined, !isFull && best.length < tokens)
      if (result.empty !== undefined) {
        const times = after
          .filter((job) => job.state === "delayed" && names.includes(job.name))
          .map(({ runAt }) => runAt)
        assert.strictEqual(result.empty.nextRunAt, times.length === 0 ? undefined : Math.min(...times))
      }
      expectJobs(yield* store.jobs, after)
      assert.deepStrictEqual(
        yield* store.counted,
        growth(
          placed.map(({ job }) => job),
          after
        )
      )

      if (!isRepeated) return
      // What is left goes in the same order, by claims of one job.
      const left = line.slice(best.length)
      for (const [index, job] of left.entries()) {
        const claimed = yield* store.operations.claim({
          queue: "queue",
          names,
          token: `later ${index}`,
          lockDurationMs
        })
        assert.strictEqual(claimed._tag === "Claimed" ? claimed.job.id : undefined, job.id)
      }
      const last = yield* store.operations.claim({ queue: "queue", names, token: "last", lockDurationMs })
      assert.strictEqual(last._tag, "Empty")
    }),
    150
  )
})

const outcome: fc.Arbitrary<AckOutcome> = fc.oneof(
  payload.map((exit): AckOutcome => ({ _tag: "Complete", exit })),
  payload.map((exit): AckOutcome => ({ _tag: "Fail", exit })),
  fc.constant<AckOutcome>({ _tag: "Cancelled" }),
  payload.map((exit): AckOutcome => ({ _tag: "Retry", delayMs: 1, exit })),
  fc.constant<AckOutcome>({ _tag: "FanOut", failFast: false, children: [] })
)

const ends = ({ _tag }: AckOutcome): boolean => _tag === "Complete" || _tag === "Fail" || _tag === "Cancelled"

describe("acks", () => {
  property(
    "end plain jobs that their tokens hold, and leave all others as they are, for a unit",
    fc.record({
      placed: jobs(["active", "active", "active", "waiting", "delayed"], 10),
      hasClaimed: fc.boolean(),
      acks: fc.array(fc.record({ number: fc.nat({ max: 11 }), isOwn, outcome }), {
        maxLength: 16
      })
    }),
    Effect.fnUntraced(function* ({ acks, hasClaimed, placed }) {
      const passedOn: Array<Ack> = []
      const ackMany = (left: ReadonlyArray<Ack>) =>
        Effect.sync(() => {
          passedOn.push(...left)
          return left.map(() => ({ _tag: "Acked" }) as const)
        })
      const store = yield* server.store(placed, { hasClaimed, units: { ackMany } })
      const after = new Map(placed.map(({ job }): [string, Stored] => [job.id, { job, end: undefined }]))
      const seen = new Set<string>()
      const left: Array<Ack> = []
      const all = acks.map(({ isOwn, number, outcome }): Ack => ({ ...lockOf(number, isOwn), outcome }))
      for (const ack of all) {
        const stored = after.get(ack.id)
        const isFirst = !seen.has(ack.id)
        seen.add(ack.id)
        if (
          !isFirst ||
          stored === undefined ||
          !ends(ack.outcome) ||
          !isPlain(stored.job) ||
          !holds(stored.job, ack.token)
        ) {
          left.push(ack)
          continue
        }
        const { attempt, row } = acknowledge(stored.job, ack.token, ack.outcome, now)
        after.set(ack.id, { job: row, end: attempt })
      }
      yield* store.operations.ackMany(all)
      assert.deepStrictEqual(passedOn, left)
      const stored = yield* store.jobs
      expectJobs(
        stored,
        Array.from(after.values(), ({ job }) => job)
      )
      assert.deepStrictEqual(
        Array.from(after.keys(), (id) => stored.get(id)?.end),
        Array.from(after.values(), ({ end }) => end)
      )
      assert.deepStrictEqual(
        yield* store.counted,
        growth(
          placed.map(({ job }) => job),
          Array.from(after.values(), ({ job }) => job)
        )
      )
    }),
    150
  )
})

describe("heartbeats", () => {
  property(
    "extend the leases of those that their tokens hold and nobody wants cancelled, and leave the others for a unit",
    fc.record({
      placed: jobs(["active", "active", "waiting"], 8),
      hasClaimed: fc.boolean(),
      locks: fc.uniqueArray(fc.record({ number: fc.nat({ max: 9 }), isOwn }), {
        maxLength: 10,
        selector: ({ number }) => number
      }),
      durationMs: fc.constantFrom(0, 10, 10.5, 60_000)
    }),
    Effect.fnUntraced(function* ({ durationMs, hasClaimed, locks, placed }) {
      const passedOn: Array<string> = []
      const store = yield* server.store(placed, {
        hasClaimed,
        units: {
          extendLocks: (left) =>
            Effect.sync(() => {
              passedOn.push(...left.map(({ id }) => id))
              return { lost: [], cancelRequested: [] }
            })
        }
      })
      const after = new Map(placed.map(({ job }) => [job.id, job]))
      const left: Array<string> = []
      const all = locks.map(({ isOwn, number }) => lockOf(number, isOwn))
      for (const { id, token } of all) {
        const job = after.get(id)
        if (job === undefined || !holds(job, token) || job.cancelRequested) left.push(id)
        else after.set(id, extend(job, durationMs, now))
      }
      yield* store.operations.extendLocks(all, durationMs)
      assert.deepStrictEqual(passedOn, left)
      expectJobs(yield* store.jobs, Array.from(after.values()))
    }),
    100
  )
})

const anyRequest: fc.Arbitrary<EnqueueRequest> = fc.record({
  id: fc.option(fc.constantFrom("job-0", "new-1", "new-2", "new-3"), { nil: undefined }),
  name,
  queue: fc.constantFrom("queue", "other"),
  payload,
  metadata,
  priority,
  attemptsMax: fc.constantFrom(1, 3),
  delayMs: fc.constantFrom(0, 0, -1, 0.5, 100),
  backoff: fc.constantFrom(undefined, { _tag: "exponential" as const, delayMs: 1.5, factor: 2 }),
  keep: fc.constantFrom(undefined, undefined, {
    completed: undefined,
    failed: { count: 1, ageMs: 0.5 },
    cancelled: undefined
  }),
  timeoutMs: fc.constantFrom(undefined, 10),
  dedupe: fc.constant(undefined),
  trace: fc.constantFrom(undefined, { traceId: "t", spanId: "s", sampled: false, delayed: true }),
  parent: fc.constantFrom(undefined, undefined, {
    flowName: "flow",
    flowId: "up",
    childKey: "child",
    parentStoreKey: "store",
    depth: 2
  })
})

describe("enqueues", () => {
  property(
    "write the row of a new job, in line in their order, and change nothing where the id is taken",
    fc.record({ placed: jobs(["waiting", "delayed", "active"], 1), requests: fc.array(anyRequest, { maxLength: 12 }) }),
    Effect.fnUntraced(function* ({ placed, requests }) {
      const store = yield* server.store(placed)
      const results = yield* store.operations.enqueueMany(requests)
      const stored = yield* store.jobs
      const after = placed.map(({ job }) => job)
      const numbers: Array<number> = []
      requests.forEach((each, index) => {
        const { duplicate, id } = results[index] ?? { duplicate: undefined, id: "" }
        if (each.id !== undefined) assert.strictEqual(id, each.id)
        assert.strictEqual(
          duplicate,
          after.some((job) => job.id === id)
        )
        if (duplicate === true) return
        const seq = stored.get(id)?.job.seq ?? 0
        numbers.push(seq)
        after.push(newJob(id, seq, each, now))
      })
      expectJobs(stored, after)
      assert.deepStrictEqual(
        numbers,
        numbers.toSorted((one, other) => one - other)
      )
      assert.deepStrictEqual(
        yield* store.counted,
        growth(
          placed.map(({ job }) => job),
          after
        )
      )
    }),
    150
  )
})

describe("callers of one statement", () => {
  it("fail alone when the database refuses what is theirs", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const store = yield* server.store([])
        // Validation refuses this before it comes here.
        const refused = ["bad", "worse"].map((id) => request({ id, metadata: { key: "\0" } }))
        const requests = [request({ id: "a" }), ...refused, request({ id: "b" })]
        const exits = yield* Effect.forEach(requests, (each) => Effect.exit(store.operations.enqueue(each)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, false, true])
        assert.deepStrictEqual(new Set((yield* store.jobs).keys()), new Set(["a", "b"]))
        assert.strictEqual((yield* store.counted)["waiting"], 2)
      })
    ))
})
