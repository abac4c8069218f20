/** Statements whose backends are killed again and again. */
import { assert, it } from "@effect/vitest"
import { EnqueueRequest } from "@jobwire/protocol"
import { Effect, Exit, Fiber, Ref, Schedule } from "effect"
import { numberOf, ownDatabase, query } from "./support/database.ts"
import { brokenRules } from "./support/invariants.ts"
import { makeFleet, many } from "./support/races.ts"

const jobs = 600
const callers = 6
const names = ["a", "b"]

// One that is putting jobs in, taking or ending them.
const killOne = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name = 'jobwire' and state = 'active' and query like '%materialized%'
  order by random() limit 1`

it.live(
  "take nothing with them that was acknowledged, and no job runs to its end twice",
  () =>
    Effect.gen(function* () {
      const url = yield* ownDatabase
      const { name, server } = yield* makeFleet(3, { url })
      const killed = yield* Ref.make(0)
      const kill = query(killOne, [], url).pipe(
        Effect.flatMap(({ length }) => Ref.update(killed, (count) => count + length)),
        Effect.ignore
      )
      const killer = yield* Effect.forkScoped(Effect.forever(Effect.andThen(kill, Effect.sleep("15 millis"))))
      const puts = yield* many(callers, (caller) =>
        Effect.forEach(Array.from({ length: jobs / callers }), (_, turn) => {
          const id = turn % 2 === 0 ? `${caller} ${turn}` : undefined
          const job = EnqueueRequest.make({ name: names[turn % 2] ?? "a", queue: "queue", payload: turn, id })
          return Effect.exit(server(caller + turn).enqueue(job))
        })
      )
      const put = puts.flat().flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value.id] : []))
      const ended = yield* Ref.make<ReadonlyArray<string>>([])
      const insist = { schedule: Schedule.spaced("5 millis") }
      // Whoever has no answer asks again, elsewhere, by the same token.
      const work = (caller: number, turn: number): Effect.Effect<void, unknown> =>
        Effect.gen(function* () {
          const tokens = Array.from({ length: 1 + (caller % 4) }, (_, index) => `${caller} ${turn} ${index}`)
          let asked = caller + turn
          const claimed = yield* Effect.suspend(() =>
            server(asked++).claimMany({ queue: "queue", names, tokens, lockDurationMs: 60_000 })
          ).pipe(Effect.retry(insist))
          const acks = claimed.jobs.map(({ job, token }) => ({
            id: job.id,
            token,
            outcome: { _tag: "Complete", exit: null } as const
          }))
          const results = yield* Effect.suspend(() => server(asked++).ackMany(acks)).pipe(Effect.retry(insist))
          assert.isTrue(results.every(({ _tag }) => _tag === "Acked"))
          yield* Ref.update(ended, (all) => [...all, ...acks.map(({ id }) => id)])
          if (claimed.empty === undefined) yield* work(caller, turn + 1)
        })
      yield* many(callers, (caller) => work(caller, 0))
      yield* Fiber.interrupt(killer)
      const ids = yield* Ref.get(ended)
      assert.strictEqual(new Set(ids).size, ids.length)
      for (const id of put) assert.include(ids, id)
      assert.isAtMost(ids.length, jobs)
      assert.isAbove(yield* Ref.get(killed), 3)
      assert.deepStrictEqual(yield* brokenRules(yield* numberOf(name, url), url), [])
    }).pipe(Effect.scoped),
  120_000
)
