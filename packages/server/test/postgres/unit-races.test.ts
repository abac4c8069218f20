/** Units of several servers on one store, and the statements of workers beside them, by the machine's clock. */
import { assert, describe } from "@effect/vitest"
import { type AckOutcome, EnqueueRequest, type JobStore, ScheduleRecord } from "@jobwire/protocol"
import { Effect, Ref } from "effect"
import { numberOf, query } from "./support/database.ts"
import { many, race, shuffled } from "./support/races.ts"

const queue = "queue"
const names = ["a", "b"]
const lockDurationMs = 60_000

const request = (fields: Partial<EnqueueRequest> = {}): EnqueueRequest =>
  EnqueueRequest.make({ name: "a", queue, payload: { n: 1 }, ...fields })

const dedupe = (key: string, fields: Partial<NonNullable<EnqueueRequest["dedupe"]>> = {}) => ({
  key,
  ttlMs: undefined,
  extend: false,
  replace: false,
  ...fields
})

const complete = { _tag: "Complete", exit: "done" } as const

const claimAll = (store: JobStore.Service, tokens: ReadonlyArray<string>) =>
  store.claimMany({ queue, names, tokens, lockDurationMs })

const range = (length: number): ReadonlyArray<number> => Array.from({ length }, (_, index) => index)

describe("dedupe keys", () => {
  race("from many sides: one job a key, and everybody is told its id", ({ server }) =>
    Effect.gen(function* () {
      const keys = range(20).map((index) => `key ${index}`)
      const results = yield* many(12, (index) =>
        Effect.forEach(shuffled(keys), (key) =>
          Effect.map(server(index).enqueue(request({ dedupe: dedupe(key) })), (result) => ({ key, ...result }))
        )
      )
      const all = results.flat()
      assert.strictEqual(all.filter(({ duplicate }) => !duplicate).length, keys.length)
      for (const ofKey of Map.groupBy(all, ({ key }) => key).values()) {
        assert.strictEqual(new Set(ofKey.map(({ id }) => id)).size, 1)
      }
      assert.strictEqual((yield* server(0).counts()).waiting, keys.length)
    })
  )

  race("replaced from many sides while others promote and take: every job is whole, and runs once", ({ server }) =>
    Effect.gen(function* () {
      const keys = range(10).map((index) => `key ${index}`)
      const put = (index: number) =>
        Effect.forEach(range(15), (turn) =>
          server(index + turn).enqueue(
            request({
              payload: { from: index },
              metadata: { from: `${index}` },
              delayMs: 1e6,
              priority: turn % 3,
              dedupe: dedupe(keys[turn % keys.length] ?? "", { replace: true })
            })
          )
        )
      const taken = yield* Ref.make<ReadonlyArray<string>>([])
      const take = (index: number) =>
        Effect.forEach(range(10), (turn) =>
          Effect.gen(function* () {
            const { items } = yield* server(index).list({ states: ["delayed"], limit: 5 })
            yield* Effect.forEach(items, ({ id }) => Effect.ignore(server(index + turn).promote(id)))
            const { jobs } = yield* claimAll(server(index + 1), [`${index} ${turn}`])
            for (const { job } of jobs) assert.deepStrictEqual(job.payload, { from: Number(job.metadata["from"]) })
            yield* Ref.update(taken, (all) => [...all, ...jobs.map(({ job }) => job.id)])
            yield* Effect.forEach(jobs, ({ job, token }) => server(index + 2).ack(job.id, token, complete))
          })
        )
      yield* Effect.all([many(8, put), many(4, take)], { concurrency: "unbounded" })
      const ids = yield* Ref.get(taken)
      assert.strictEqual(new Set(ids).size, ids.length)
      assert.strictEqual((yield* server(0).counts()).completed, ids.length)
    })
  )
})

const child = (key: string) => ({
  childKey: key,
  storeKey: "store",
  request: request({ id: `child ${key}` })
})

const fanOut = (keys: ReadonlyArray<string>, failFast: boolean): AckOutcome => ({
  _tag: "FanOut",
  failFast,
  children: keys.map(child)
})

const failure = (flowId: string, childKey: string) => ({
  flowId,
  childKey,
  outcome: "failed" as const,
  exit: undefined,
  failedReason: "no"
})

const childKeys = range(40).map((index) => `k${index}`)

describe("flows", () => {
  race("the last reports from many sides settle each parent once", ({ server }) =>
    Effect.gen(function* () {
      const parents = range(6).map((index) => `parent ${index}`)
      yield* server(0).enqueueMany(parents.map((id) => request({ id })))
      const { jobs } = yield* claimAll(server(1), parents)
      yield* Effect.forEach(jobs, ({ job, token }) => server(2).ack(job.id, token, fanOut(childKeys, false)))
      const reports = parents.flatMap((flowId) =>
        childKeys.map((childKey) => ({
          flowId,
          childKey,
          outcome: "completed" as const,
          exit: childKey,
          failedReason: undefined
        }))
      )
      const results = yield* many(6, (index) =>
        Effect.forEach(
          range(8).map((part) => shuffled(reports).slice(part * 30, part * 30 + 30)),
          (some) => server(index).recordChildResults(some)
        )
      )
      // What nobody has drawn by chance.
      const rest = yield* server(0).recordChildResults(reports)
      const all = [...results.flat(2), ...rest]
      assert.strictEqual(all.filter(({ applied }) => applied).length, reports.length)
      assert.strictEqual(all.filter(({ parentSettled }) => parentSettled).length, parents.length)
      assert.strictEqual((yield* server(1).counts()).waiting, parents.length)
    })
  )

  race(
    "a fan-out against cancels and reports: the counters are right, and every child is owed its cancel",
    ({ name, server }) =>
      Effect.gen(function* () {
        const parents = range(40).map((index) => `parent ${index}`)
        const some = childKeys.slice(0, 4)
        yield* server(0).enqueueMany(parents.map((id) => request({ id })))
        const { jobs } = yield* claimAll(server(1), parents)
        yield* many(jobs.length, (index) =>
          Effect.gen(function* () {
            const { job, token } = jobs[index] as (typeof jobs)[number]
            yield* Effect.all(
              [
                Effect.ignore(server(index).ack(job.id, token, fanOut(some, index % 2 === 0))),
                Effect.ignore(server(index + 1).cancel(job.id)),
                server(index + 2).recordChildResults([failure(job.id, "k1"), failure(job.id, "k0")])
              ],
              { concurrency: "unbounded" }
            )
          })
        )
        for (const id of parents) {
          const { items } = yield* server(0).listChildResults(id)
          const job = yield* Effect.flatMap(server(0).getJob(id), Effect.fromOption)
          const having = (status: string) => items.filter((item) => item.status === status).length
          assert.deepInclude(job.flow, {
            pending: having("pending"),
            completed: 0,
            failed: having("failed"),
            cancelled: having("cancelled")
          })
        }
        const { cascade } = yield* server(0).flowSweepWork({ pendingAgeMs: 0 })
        const owed = cascade.flatMap(({ children }) => children).length
        const cancelled = "select count(*)::int4 from child where store = $1 and status = 3 and not cascaded"
        const [row] = yield* query(cancelled, [yield* numberOf(name)])
        assert.deepStrictEqual(row, [owed])
      })
  )
})

describe("schedules", () => {
  race("ticked from many sweepers: one job an occurrence", ({ server }) =>
    Effect.gen(function* () {
      const schedule = ScheduleRecord.make({ key: "s", jobName: "a", queue, everyMs: 1, nextRunAt: 0, payload: null })
      yield* server(0).upsertSchedule(schedule)
      const ticks = yield* many(9, (index) =>
        Effect.forEach(range(30), (at) =>
          server(index + at).tickSchedule("s", at, at + 1, request({ id: `tick ${at}` }))
        )
      )
      assert.strictEqual(ticks.flat().filter(Boolean).length, 30)
      assert.strictEqual((yield* server(0).counts()).waiting, 30)
    })
  )
})

describe("retention", () => {
  race("from many sides leaves the newest, and no more", ({ server }) =>
    Effect.gen(function* () {
      const keep = { completed: { count: 5, ageMs: undefined }, failed: undefined, cancelled: undefined }
      yield* server(0).enqueueMany(range(240).map((index) => request({ name: names[index % 2] ?? "a", keep })))
      const work = (index: number, turn: number): Effect.Effect<void, unknown> =>
        Effect.gen(function* () {
          const { jobs } = yield* claimAll(server(index), [`${index} ${turn} 0`, `${index} ${turn} 1`])
          if (jobs.length === 0) return
          yield* many(jobs.length, (each) => {
            const { job, token } = jobs[each] as (typeof jobs)[number]
            return server(index + each + 1).ack(job.id, token, complete)
          })
          yield* work(index, turn + 1)
        })
      yield* many(8, (index) => work(index, 0))
      assert.strictEqual((yield* server(0).counts()).completed, 2 * 5)
    })
  )
})
