/** A backend that is terminated while it waits in the middle of an operation: the operation happens all the same, and once. */
import { assert, layer } from "@effect/vitest"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { EnqueueRequest, JobStore, ScheduleRecord } from "@jobwire/protocol"
import { Context, Effect, Fiber, Layer, type Redacted, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { postgresStore } from "../../../../test/support/fresh-postgres.ts"
import { numberOf, ownDatabase, query } from "./support/database.ts"
import { brokenRules } from "./support/invariants.ts"

const queue = "queue"
const lockDurationMs = 60_000

const request = (id: string | undefined, fields: Partial<EnqueueRequest> = {}): EnqueueRequest =>
  EnqueueRequest.make({ id, name: "a", queue, payload: 1, ...fields })

const dedupe = { key: "k", ttlMs: undefined, extend: false, replace: false }
const complete = { _tag: "Complete", exit: 1 } as const

const child = (key: string) => ({ childKey: key, storeKey: "store", request: request(`child ${key}`) })
const fanOut = { _tag: "FanOut" as const, failFast: false, children: [child("x"), child("y")] }
const report = { childKey: "x", outcome: "completed" as const, exit: 1, failedReason: undefined }
const schedule = ScheduleRecord.make({ key: "s", jobName: "a", queue, everyMs: 1, nextRunAt: 0, payload: 1 })

type Store = JobStore.Service

/** A job that somebody holds under the token `t`. */
const held = (store: Store) =>
  Effect.andThen(store.enqueue(request("x")), store.claim({ queue, names: ["a"], token: "t", lockDurationMs }))

const failed = (store: Store) => Effect.andThen(held(store), store.ack("x", "t", { _tag: "Fail", exit: 1 }))
const parked = (store: Store) => Effect.andThen(held(store), store.ack("x", "t", fanOut))
const finishedChild = (store: Store) =>
  Effect.andThen(
    store.enqueue(
      request("c", { parent: { flowName: "f", flowId: "x", childKey: "x", parentStoreKey: "store", depth: 1 } })
    ),
    store.cancel("c")
  )

/** An operation: what must be there before, and how often each job is there afterwards, by state. */
interface Trial {
  readonly before?: (store: Store) => Effect.Effect<unknown, unknown>
  readonly run: (store: Store) => Effect.Effect<unknown, unknown>
  readonly answer?: unknown
  readonly left?: Readonly<Record<string, number>>
}

const trials: Readonly<Record<string, Trial>> = {
  "enqueue without an id": { run: (store) => Effect.asVoid(store.enqueue(request(undefined))), left: { waiting: 1 } },
  "enqueue by a key": {
    run: (store) => store.enqueue(request("x", { dedupe })),
    answer: { id: "x", duplicate: false },
    left: { waiting: 1 }
  },
  enqueueMany: {
    run: (store) => Effect.asVoid(store.enqueueMany([request(undefined), request(undefined, { dedupe })])),
    left: { waiting: 2 }
  },
  claim: {
    before: (store) => store.enqueueMany([request("x"), request("y")]),
    run: (store) =>
      Effect.map(store.claim({ queue, names: ["a"], token: "t", lockDurationMs }), (result) =>
        result._tag === "Claimed" ? result.job.id : undefined
      ),
    answer: "x",
    left: { active: 1, waiting: 1 }
  },
  ack: { before: held, run: (store) => store.ack("x", "t", complete), left: { completed: 1 } },
  "ack with another run to come": {
    before: held,
    run: (store) => store.ack("x", "t", { _tag: "Retry", delayMs: 1e6, exit: 1 }),
    left: { delayed: 1 }
  },
  "ack that fans out": {
    before: held,
    run: (store) => store.ack("x", "t", fanOut),
    left: { "waiting-children": 1 }
  },
  ackMany: {
    before: held,
    run: (store) => store.ackMany([{ id: "x", token: "t", outcome: complete }]),
    answer: [{ _tag: "Acked" }],
    left: { completed: 1 }
  },
  release: { before: held, run: (store) => store.release("x", "t"), left: { waiting: 1 } },
  extendLocks: {
    before: held,
    run: (store) => store.extendLocks([{ id: "x", token: "t" }], 1000),
    answer: { lost: [], cancelRequested: [] },
    left: { active: 1 }
  },
  recoverStalled: {
    before: (store) =>
      Effect.andThen(store.enqueue(request("x")), store.claim({ queue, names: ["a"], token: "t", lockDurationMs: 0 })),
    run: (store) => store.recoverStalled({ maxStalledCount: 1 }),
    answer: [{ id: "x", failed: false }],
    left: { waiting: 1 }
  },
  cancel: { before: (store) => store.enqueue(request("x")), run: (store) => store.cancel("x"), left: { cancelled: 1 } },
  cancelByDedupe: {
    before: (store) => store.enqueue(request("x", { dedupe })),
    run: (store) => store.cancelByDedupe("a", "k"),
    answer: true,
    left: { cancelled: 1 }
  },
  retry: { before: failed, run: (store) => store.retry("x"), left: { waiting: 1 } },
  promote: {
    before: (store) => store.enqueue(request("x", { delayMs: 1e6 })),
    run: (store) => store.promote("x"),
    left: { waiting: 1 }
  },
  remove: { before: failed, run: (store) => store.remove("x"), answer: true },
  pause: { run: (store) => store.pause(queue) },
  resume: { before: (store) => store.pause(queue), run: (store) => store.resume(queue) },
  upsertSchedule: { run: (store) => store.upsertSchedule(schedule) },
  removeSchedule: {
    before: (store) => store.upsertSchedule(schedule),
    run: (store) => store.removeSchedule("s"),
    answer: true
  },
  tickSchedule: {
    before: (store) => store.upsertSchedule(schedule),
    run: (store) => store.tickSchedule("s", 0, 1, request("x")),
    answer: true,
    left: { waiting: 1 }
  },
  advanceSchedule: {
    before: (store) => store.upsertSchedule(schedule),
    run: (store) => store.advanceSchedule("s", 0, 1)
  },
  recordChildResults: {
    before: parked,
    run: (store) => store.recordChildResults([{ ...report, flowId: "x" }]),
    answer: [{ applied: true, parentSettled: false }],
    left: { "waiting-children": 1 }
  },
  flowSweepWork: {
    before: (store) => Effect.andThen(parked(store), store.cancel("x")),
    run: (store) => Effect.map(store.flowSweepWork({ pendingAgeMs: 0 }), ({ cascade }) => cascade.length),
    answer: 1,
    left: { cancelled: 1 }
  },
  markChildrenCascaded: {
    before: (store) => Effect.andThen(parked(store), store.cancel("x")),
    run: (store) => store.markChildrenCascaded("x", ["x"]),
    left: { cancelled: 1 }
  },
  deleteOutbox: {
    before: finishedChild,
    run: (store) =>
      Effect.flatMap(store.peekOutbox({ limit: 1 }), (entries) => store.deleteOutbox(entries.map(({ id }) => id))),
    left: { cancelled: 1 }
  },
  getJob: { run: (store) => Effect.asVoid(store.getJob("x")) },
  getAttempts: { run: (store) => store.getAttempts("x"), answer: [] },
  list: { run: (store) => Effect.map(store.list({ queue }), ({ items }) => items), answer: [] },
  counts: { run: (store) => Effect.map(store.counts(), ({ waiting }) => waiting), answer: 0 },
  pausedQueues: { run: (store) => store.pausedQueues(), answer: [] },
  listSchedules: { run: (store) => store.listSchedules(), answer: [] },
  dueSchedules: { run: (store) => store.dueSchedules(), answer: [] },
  listChildResults: { run: (store) => Effect.map(store.listChildResults("x"), ({ items }) => items), answer: [] },
  peekOutbox: { run: (store) => store.peekOutbox({ limit: 1 }), answer: [] }
}

/** A database that nobody else uses. */
class Own extends Context.Service<Own, { readonly url: Redacted.Redacted }>()("test/Own") {}

const own = Layer.effect(
  Own,
  Effect.map(ownDatabase, (url) => ({ url }))
)

const tables =
  "job, live, done, attempt, lane, tally, tally_change, dedupe, pause, schedule, child, child_request, outbox"

const killWaiting = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name = 'jobwire' and wait_event_type = 'Lock'`

/** Ends the backend that waits for a lock, as soon as there is one. */
const killOne = (url: Redacted.Redacted) =>
  query(killWaiting, [], url).pipe(
    Effect.filterOrFail(({ length }) => length > 0),
    Effect.retry(Schedule.spaced("10 millis"))
  )

layer(own, { excludeTestServices: true, timeout: "60 seconds" })("an operation whose backend is terminated", (it) => {
  for (const [operation, { answer, before, left = {}, run }] of Object.entries(trials)) {
    it.effect(`happens all the same, and once: ${operation}`, () =>
      Effect.gen(function* () {
        const { url } = yield* Own
        const name = randomUUID()
        const store = Context.get(yield* Layer.build(Layer.fresh(postgresStore(name, { url }))), JobStore.JobStore)
        yield* before?.(store) ?? Effect.void
        const holder = yield* PgConnection.make({ url, startupParameters: { search_path: "jobwire" } })
        yield* holder.queryValues("begin")
        yield* holder.queryValues(`lock table ${tables} in access exclusive mode`)
        const fiber = yield* Effect.forkScoped(run(store))
        yield* killOne(url)
        yield* holder.queryValues("commit")
        assert.deepStrictEqual(yield* Fiber.join(fiber), answer)
        const counts = yield* store.counts()
        const there = Object.entries(counts).filter(([, count]) => count > 0)
        assert.deepStrictEqual(Object.fromEntries(there), left)
        assert.deepStrictEqual(yield* brokenRules(yield* numberOf(name, url), url), [])
      }).pipe(Effect.scoped)
    )
  }
})
