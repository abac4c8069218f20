/** Runs that end, are cancelled, are taken back and begin again from several sides at once, by the machine's clock. */
import { assert, describe } from "@effect/vitest"
import { EnqueueRequest, type JobStore } from "@jobwire/protocol"
import { Effect } from "effect"
import { numberOf, query } from "../../packages/server/test/postgres/support/database.ts"
import { many, race, shuffled } from "../../packages/server/test/postgres/support/races.ts"

const queue = "queue"
const names = ["a", "b"]

const range = (length: number): ReadonlyArray<number> => Array.from({ length }, (_, index) => index)

const request = (index: number, fields: Partial<EnqueueRequest> = {}): EnqueueRequest =>
  EnqueueRequest.make({ id: `job ${index}`, name: names[index % 2] ?? "a", queue, payload: index, ...fields })

const complete = { _tag: "Complete", exit: "done" } as const
const fail = { _tag: "Fail", exit: "no" } as const
const retry = { _tag: "Retry", delayMs: 0, exit: "again" } as const

/** Whether the call succeeded; it may have been refused, and by nothing but these. */
const succeeded = <A, E extends { readonly _tag: string }>(
  call: Effect.Effect<A, E>,
  ...refusals: ReadonlyArray<string>
) =>
  call.pipe(
    Effect.as(true),
    Effect.catchIf(
      ({ _tag }) => refusals.includes(_tag),
      () => Effect.succeed(false)
    )
  )

/** The entries of ledgers that workers have written, as `id token outcome`. */
const written = Effect.fnUntraced(function* (name: string) {
  const rows = yield* query(
    `select j.id, e.token, e.acked from job j join (
       select store, seq, token, acked from attempt union all select store, seq, token, acked from done
     ) e using (store, seq) where j.store = $1 and e.acked is not null`,
    [yield* numberOf(name)]
  )
  return rows.map((row) => row.join("|"))
})

const acks = ["Complete", "Fail", "Retry"]

describe("acks", () => {
  race("against recovery: what was acknowledged is in the ledger, and nothing else", ({ name, server }) =>
    Effect.gen(function* () {
      const jobs = 120
      yield* server(0).enqueueMany(range(jobs).map((index) => request(index)))
      const acknowledged: Array<string> = []
      const work = (caller: number, turn: number): Effect.Effect<void, unknown> =>
        Effect.gen(function* () {
          const token = `${caller}/${turn}`
          const claimed = yield* server(caller).claim({ queue, names, token, lockDurationMs: 4 })
          if (claimed._tag === "Claimed") {
            yield* Effect.sleep(Math.random() * 12)
            const outcome = [complete, retry, fail][Math.floor(Math.random() * 3)] ?? complete
            const { id } = claimed.job
            const isAcked = yield* succeeded(server(caller + turn).ack(id, token, outcome), "LockLostError")
            if (isAcked) acknowledged.push([id, token, acks.indexOf(outcome._tag)].join("|"))
          }
          const { completed, failed } = yield* server(caller + 1).counts()
          if (completed + failed < jobs) yield* work(caller, turn + 1)
        })
      const recover = (index: number) =>
        Effect.forever(Effect.andThen(server(index).recoverStalled({ maxStalledCount: 1e6 }), Effect.sleep(1)))
      yield* Effect.raceFirst(
        many(10, (caller) => work(caller, 0)),
        many(2, recover)
      )
      assert.sameMembers([...(yield* written(name))], acknowledged)
    })
  )
})

type End = "completed" | "cancelled"

/** Ends each job under way, by its worker and by somebody who cancels it. */
const endBoth = Effect.fnUntraced(function* (
  server: (index: number) => JobStore.Service,
  jobs: number,
  told: Map<string, End>
) {
  const work = (caller: number, turn: number): Effect.Effect<void, unknown> =>
    Effect.gen(function* () {
      const tokens = range(3).map((index) => `${caller} ${turn} ${index}`)
      const claimed = yield* server(caller).claimMany({ queue, names, tokens, lockDurationMs: 60_000 })
      yield* many(claimed.jobs.length, (index) =>
        Effect.gen(function* () {
          const { job, token } = claimed.jobs[index] as (typeof claimed.jobs)[number]
          // A Retry gives way to whoever wants the job cancelled, so either may be the end of it.
          const outcome = index === 0 && turn % 2 === 0 ? retry : complete
          yield* server(caller + index).ack(job.id, token, outcome)
          if (outcome === complete) told.set(job.id, "completed")
        })
      )
      const { cancelled, completed } = yield* server(turn).counts()
      if (completed + cancelled < jobs) yield* work(caller, turn + 1)
    })
  const cancel = (caller: number) =>
    Effect.forEach(shuffled(range(jobs)).slice(0, jobs / 3), (index) =>
      succeeded(server(caller + index).cancel(`job ${index}`), "JobNotCancellableError")
    )
  yield* Effect.all([many(6, (caller) => work(caller, 0)), many(4, cancel)], { concurrency: "unbounded" })
})

const parent = (index: number) => ({
  flowName: "flow",
  flowId: "parent",
  childKey: `${index}`,
  parentStoreKey: "store",
  depth: 1
})

describe("cancels", () => {
  race("against claims and acks: each child ends once, and its end is in the outbox once", ({ name, server }) =>
    Effect.gen(function* () {
      const jobs = 150
      const requests = range(jobs).map((index) => request(index, { parent: parent(index) }))
      yield* many(3, (index) => server(index).enqueueMany(requests.slice(index * 50, index * 50 + 50)))
      const told = new Map<string, End>()
      yield* endBoth(server, jobs, told)
      for (const [id, end] of told) {
        const job = yield* Effect.flatMap(server(0).getJob(id), Effect.fromOption)
        assert.strictEqual(job.state, end)
      }
      const outbox = yield* server(1).peekOutbox({ limit: 1000 })
      assert.strictEqual(outbox.length, jobs)
      const { items } = yield* server(2).list({ limit: 1000 })
      assert.deepStrictEqual(
        new Map(outbox.map(({ report }) => [`job ${report.childKey}`, report.outcome as string])),
        new Map(items.map(({ id, state }) => [id, state as string]))
      )
      const ends = yield* query("select count(*)::int4 from attempt where store = $1 and outcome in (0, 2, 4)", [
        yield* numberOf(name)
      ])
      assert.deepStrictEqual(ends, [[0]])
    })
  )
})

describe("jobs that are run again", () => {
  race(
    "retried and given back from many sides: each failure is retried once, and nobody holds a job twice",
    ({ server }) =>
      Effect.gen(function* () {
        const jobs = 40
        yield* server(0).enqueueMany(range(jobs).map((index) => request(index)))
        const [held, retried] = [new Set<string>(), new Map<string, number>()]
        const work = (caller: number) =>
          Effect.forEach(range(12), (turn) =>
            Effect.gen(function* () {
              const tokens = range(4).map((index) => `${caller} ${turn} ${index}`)
              const claimed = yield* server(caller + turn).claimMany({ queue, names, tokens, lockDurationMs: 60_000 })
              yield* Effect.forEach(
                claimed.jobs,
                ({ job, token }, index) =>
                  Effect.gen(function* () {
                    assert.isFalse(held.has(job.id), `${job.id} is held twice`)
                    held.add(job.id)
                    yield* Effect.yieldNow
                    held.delete(job.id)
                    yield* index % 2 === 0 ? server(turn).ack(job.id, token, fail) : server(turn).release(job.id, token)
                  }),
                { concurrency: "unbounded" }
              )
            })
          )
        const again = (caller: number) =>
          Effect.forEach(range(60), () =>
            Effect.gen(function* () {
              const { items } = yield* server(caller).list({ states: ["failed"], limit: 6 })
              for (const { id } of shuffled(items)) {
                const isRetried = yield* succeeded(server(caller + 1).retry(id), "JobNotRetryableError")
                if (isRetried) retried.set(id, (retried.get(id) ?? 0) + 1)
              }
            })
          )
        yield* Effect.all([many(5, work), many(4, again)], { concurrency: "unbounded" })
        assert.isAbove(retried.size, 0)
        for (const index of range(jobs)) {
          const job = yield* Effect.flatMap(server(0).getJob(`job ${index}`), Effect.fromOption)
          const failures = (yield* server(1).getAttempts(job.id)).filter(({ outcome }) => outcome === "failed").length
          assert.strictEqual((retried.get(job.id) ?? 0) + (job.state === "failed" ? 1 : 0), failures)
        }
      })
  )
})

describe("windows of dedupe keys", () => {
  race("from many sides, while their jobs end: one job a window", ({ server }) =>
    Effect.gen(function* () {
      const ttlMs = 120
      const until = Date.now() + 1500
      const put = (caller: number, turn: number): Effect.Effect<void, unknown> =>
        Effect.gen(function* () {
          const dedupe = { key: `${turn % 3}`, ttlMs, extend: false, replace: false }
          yield* server(caller + turn).enqueue(request(0, { id: undefined, name: "a", dedupe }))
          if (Date.now() < until) yield* put(caller, turn + 1)
        })
      const work = (caller: number, turn: number): Effect.Effect<void, unknown> =>
        Effect.gen(function* () {
          const token = `${caller} ${turn}`
          const claimed = yield* server(caller + turn).claim({ queue, names, token, lockDurationMs: 60_000 })
          if (claimed._tag === "Claimed") yield* server(turn).ack(claimed.job.id, token, complete)
          else yield* Effect.sleep(5)
          if (Date.now() < until) yield* work(caller, turn + 1)
        })
      yield* Effect.all([many(6, (caller) => put(caller, 0)), many(2, (caller) => work(caller, 0))], {
        concurrency: "unbounded"
      })
      const { items } = yield* server(0).list({ limit: 1000, order: "asc" })
      for (const ofKey of Map.groupBy(items, ({ dedupeKey }) => dedupeKey).values()) {
        assert.isAtLeast(ofKey.length, 3)
        for (const [index, { enqueuedAt }] of ofKey.slice(1).entries()) {
          assert.isAtLeast(enqueuedAt - (ofKey[index]?.enqueuedAt ?? 0), ttlMs)
        }
      }
    })
  )
})
