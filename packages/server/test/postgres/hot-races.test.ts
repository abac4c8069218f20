/** Several servers on one store, by the machine's clock: who wins is open, but somebody must, and nobody twice. */
import { assert, describe } from "@effect/vitest"
import { type ClaimedJob, EnqueueRequest } from "@jobwire/protocol"
import { Effect, Ref } from "effect"
import { many, race, shuffled } from "./support/races.ts"

const queue = "queue"
const names = ["a", "b", "c"]
const lockDurationMs = 60_000

const request = (fields: Partial<EnqueueRequest> = {}): EnqueueRequest =>
  EnqueueRequest.make({ name: "a", queue, payload: { n: 1 }, ...fields })

const complete = { _tag: "Complete", exit: "done" } as const

describe("claimers", () => {
  race("never get a job twice, and leave none, by one or by several at once", ({ server }) =>
    Effect.gen(function* () {
      const jobs = 1500
      yield* many(6, (index) =>
        server(index).enqueueMany(
          Array.from({ length: jobs / 6 }, (_, n) =>
            request({ name: names[n % names.length] ?? "a", priority: n % 4, delayMs: n % 10 === 0 ? 30 : 0 })
          )
        )
      )
      const got = yield* Ref.make<ReadonlyArray<string>>([])
      const drain = (index: number, turn: number): Effect.Effect<void, unknown> =>
        Effect.gen(function* () {
          const size = index % 2 === 0 ? 1 : 7
          const tokens = Array.from({ length: size }, (_, n) => `${index} ${turn} ${n}`)
          const { empty, jobs } = yield* server(index + turn).claimMany({ queue, names, tokens, lockDurationMs })
          yield* Ref.update(got, (all) => [...all, ...jobs.map(({ job }) => job.id)])
          const results = yield* server(index + turn + 1).ackMany(
            jobs.map(({ job, token }) => ({ id: job.id, token, outcome: complete }))
          )
          assert.deepStrictEqual(
            results,
            jobs.map(() => ({ _tag: "Acked" }))
          )
          if (empty === undefined) return yield* drain(index, turn + 1)
          if (empty.nextRunAt === undefined) return
          yield* Effect.sleep(5)
          return yield* drain(index, turn + 1)
        })
      yield* many(32, (index) => drain(index, 0))
      const ids = yield* Ref.get(got)
      assert.strictEqual(ids.length, jobs)
      assert.strictEqual(new Set(ids).size, jobs)
      const counts = yield* server(0).counts()
      assert.deepStrictEqual([counts.completed, counts.waiting + counts.active + counts.delayed], [jobs, 0])
    })
  )

  race("with one token get one job, whichever servers they ask", ({ server, servers }) =>
    Effect.gen(function* () {
      yield* server(0).enqueueMany(Array.from({ length: 200 }, (_, n) => request({ name: names[n % 3] ?? "a" })))
      yield* many(40, (token) =>
        Effect.gen(function* () {
          const results = yield* many(3 * servers.length, (index) =>
            server(index).claim({ queue, names, token: `token ${token}`, lockDurationMs })
          )
          const ids = results.map((result) => (result._tag === "Claimed" ? result.job.id : undefined))
          assert.strictEqual(new Set(ids).size, 1)
          assert.isDefined(ids[0])
        })
      )
      assert.strictEqual((yield* server(1).counts()).active, 40)
    })
  )

  race("keep the order of priority and place when nobody races them", ({ server }) =>
    Effect.gen(function* () {
      const requests = Array.from({ length: 120 }, (_, n) =>
        request({ id: `job ${n}`, name: names[(n * 7) % 3] ?? "a", priority: [0, 5, -2][(n * 5) % 3] ?? 0 })
      )
      for (const [index, each] of requests.entries()) yield* server(index).enqueue(each)
      const expected = requests.toSorted((one, other) => other.priority - one.priority).map(({ id }) => id)
      const got: Array<string | undefined> = []
      for (let turn = 0; got.length < requests.length; turn++) {
        const tokens = Array.from({ length: 1 + (turn % 5) }, (_, n) => `${turn} ${n}`)
        const { jobs } = yield* server(turn).claimMany({ queue, names, tokens, lockDurationMs })
        got.push(...jobs.map(({ job }) => job.id))
        // One is given back, and comes again at once.
        const last = jobs.at(-1)
        if (turn % 4 === 0 && last !== undefined) {
          yield* server(turn + 1).release(last.job.id, last.token)
          got.pop()
        }
      }
      assert.deepStrictEqual(got, expected)
    })
  )
})

describe("acks", () => {
  race("and recovery: a run ends by the one or the other, and every job is finished once", ({ server }) =>
    Effect.gen(function* () {
      const jobs = 400
      yield* server(0).enqueueMany(Array.from({ length: jobs }, (_, n) => request({ name: names[n % 3] ?? "a" })))
      const done = yield* Ref.make<ReadonlyArray<string>>([])
      const work = (index: number, turn: number): Effect.Effect<void, unknown> =>
        Effect.gen(function* () {
          const tokens = Array.from({ length: 4 }, (_, n) => `${index} ${turn} ${n}`)
          const claimed = yield* server(index).claimMany({ queue, names, tokens, lockDurationMs: 3 })
          yield* Effect.sleep(Math.random() * 6)
          const acks = claimed.jobs.map(({ job, token }) => ({ id: job.id, token, outcome: complete }))
          const results = yield* server(index + 1).ackMany(acks)
          yield* Ref.update(done, (all) => [
            ...all,
            ...acks.filter((_, n) => results[n]?._tag === "Acked").map(({ id }) => id)
          ])
          const counts = yield* server(index + 2).counts()
          if (counts.completed < jobs) yield* work(index, turn + 1)
        })
      const recover = Effect.forever(
        Effect.andThen(server(2).recoverStalled({ maxStalledCount: 1_000_000 }), Effect.sleep(1))
      )
      yield* Effect.race(
        many(8, (index) => work(index, 0)),
        recover
      )
      const ids = yield* Ref.get(done)
      assert.strictEqual(ids.length, jobs)
      assert.strictEqual(new Set(ids).size, jobs)
    })
  )

  race("from many sides are one ack", ({ server }) =>
    Effect.gen(function* () {
      yield* server(0).enqueueMany(Array.from({ length: 60 }, () => request()))
      const tokens = Array.from({ length: 60 }, (_, n) => `token ${n}`)
      const { jobs } = yield* server(1).claimMany({ queue, names, tokens, lockDurationMs })
      assert.lengthOf(jobs, 60)
      const all = yield* many(9, (index) =>
        server(index).ackMany(shuffled(jobs).map(({ job, token }) => ({ id: job.id, token, outcome: complete })))
      )
      assert.isTrue(all.flat().every((result) => result._tag === "Acked"))
      const attempts = yield* many(60, (index) => server(index).getAttempts(jobs[index]?.job.id ?? ""))
      assert.isTrue(attempts.every((ledger) => ledger.length === 1))
    })
  )
})

describe("claims", () => {
  race("against cancels, promotions, releases and heartbeats: every job ends, and none is held by two", ({ server }) =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 300 }, (_, n) => `job ${n}`)
      yield* server(0).enqueueMany(
        ids.map((id, n) => request({ id, name: names[n % 3] ?? "a", priority: n % 2, delayMs: n % 3 === 0 ? 1e6 : 0 }))
      )
      const holders = new Map<string, string>()
      const finish = (index: number, { job, token }: ClaimedJob) =>
        Effect.gen(function* () {
          assert.isUndefined(holders.get(job.id))
          holders.set(job.id, token)
          yield* server(index).extendLocks([{ id: job.id, token }], lockDurationMs)
          holders.delete(job.id)
          const giveBack = Math.random() < 0.3
          yield* giveBack ? server(index + 1).release(job.id, token) : server(index + 1).ack(job.id, token, complete)
        })
      const work = (index: number, turn: number): Effect.Effect<void, unknown> =>
        Effect.gen(function* () {
          const tokens = Array.from({ length: 3 }, (_, n) => `${index} ${turn} ${n}`)
          const { jobs } = yield* server(index).claimMany({ queue, names, tokens, lockDurationMs })
          yield* Effect.forEach(jobs, (job) => finish(index, job), { concurrency: "unbounded" })
          const counts = yield* server(index).counts()
          if (counts.completed + counts.cancelled < ids.length) yield* work(index, turn + 1)
        })
      const meddle = (index: number) =>
        Effect.forEach(shuffled(ids), (id, n) =>
          Effect.ignore(n % 5 === 0 ? server(index).cancel(id) : server(index).promote(id))
        )
      yield* Effect.all([many(8, (index) => work(index, 0)), many(4, meddle)], { concurrency: "unbounded" })
      const counts = yield* server(0).counts()
      assert.strictEqual(counts.completed + counts.cancelled, ids.length)
    })
  )
})

describe("enqueues", () => {
  race("of the same ids in other orders from many sides put each in once, and say so to one", ({ server }) =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 150 }, (_, n) => `job ${n}`)
      const results = yield* many(12, (index) =>
        server(index).enqueueMany(shuffled(ids).map((id, n) => request({ id, name: names[n % 3] ?? "a" })))
      )
      const went = results.flat().filter(({ duplicate }) => !duplicate)
      assert.strictEqual(went.length, ids.length)
      assert.deepStrictEqual(new Set(went.map(({ id }) => id)), new Set(ids))
      assert.strictEqual((yield* server(1).counts()).waiting, ids.length)
    })
  )
})
