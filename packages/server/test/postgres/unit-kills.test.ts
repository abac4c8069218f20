/** Units whose backends are killed again and again. */
import { assert, it } from "@effect/vitest"
import { EnqueueRequest } from "@jobwire/protocol"
import { Effect, Exit, Fiber } from "effect"
import { numberOf, ownDatabase, query } from "./support/database.ts"
import { brokenRules } from "./support/invariants.ts"
import { makeFleet, many } from "./support/races.ts"

const turns = 60
const callers = 6
// The last turns repeat keys of the first.
const keys = 50

const request = (caller: number, turn: number): EnqueueRequest =>
  EnqueueRequest.make({
    name: "a",
    queue: "queue",
    payload: turn,
    dedupe: { key: `${caller} ${turn % keys}`, ttlMs: 1e9, extend: false, replace: false }
  })

// One that has written, and may be about to commit.
const killOne = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name = 'jobwire' and query like '%w0 as%' order by random() limit 1`

it.live(
  "take nothing with them that was acknowledged, and nothing happens twice",
  () =>
    Effect.gen(function* () {
      const url = yield* ownDatabase
      const { name, server } = yield* makeFleet(3, { url })
      const kill = Effect.ignore(query(killOne, [], url))
      const killer = yield* Effect.forkScoped(Effect.forever(Effect.andThen(kill, Effect.sleep("20 millis"))))
      const results = yield* many(callers, (caller) =>
        Effect.forEach(Array.from({ length: turns }), (_, turn) =>
          Effect.exit(server(caller).enqueue(request(caller, turn)))
        )
      )
      yield* Fiber.interrupt(killer)
      const told = results.flat().flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value] : []))
      const { items } = yield* server(0).list({ limit: 1000 })
      const ids = new Set(items.map(({ id }) => id))
      for (const { id } of told) assert.isTrue(ids.has(id), `${id} was acknowledged, and is not there`)
      const fresh = told.filter(({ duplicate }) => !duplicate)
      assert.strictEqual(new Set(fresh.map(({ id }) => id)).size, fresh.length)
      // A caller whose connections were killed six times in a row is told so.
      assert.isAtLeast(fresh.length, callers * keys - 30)
      assert.isAtMost(items.length, callers * keys)
      assert.deepStrictEqual(yield* brokenRules(yield* numberOf(name, url), url), [])
    }).pipe(Effect.scoped),
  120_000
)
