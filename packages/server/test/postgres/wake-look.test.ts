/** The slow look finds jobs that somebody waits for, and nothing else. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { databaseUrl } from "../../../../test/support/fresh-postgres.ts"
import * as Connections from "../../src/drivers/postgres/Connections.ts"
import { active, delayed, fresh, returned } from "../../src/drivers/postgres/RowStates.ts"
import * as Patrol from "../../src/drivers/postgres/wake/Patrol.ts"
import * as Bare from "./support/bare-server.ts"

interface Job {
  readonly queue: string
  readonly name: string
  readonly priority?: number
  readonly state: number
  readonly runAt?: number
}

const insert = `
  with l as (
    insert into lane (store, queue, name, priority) values ($1, $2, $3, $4)
    on conflict (store, queue, name, priority) do update set priority = excluded.priority returning lane
  )
  insert into live (store, seq, lane, queue_key, place, state, plain, cancel_requested, attempts_made, stalled_count, ledger_length, run_at)
  select $1, nextval('number'), l.lane, 0, nextval('number'), $5, true, false, 0, 0, 0, $6 from l`

const setUp = Effect.gen(function* () {
  const { hot } = yield* Connections.make({ url: databaseUrl() })
  const store = Bare.newStore()
  const clock = yield* Clock.Clock
  const now = clock.currentTimeMillisUnsafe()
  const run = (sql: string, ...parameters: ReadonlyArray<unknown>) => hot.use((session) => session.run(sql, parameters))
  const put = ({ name, priority = 0, queue, runAt = 0, state }: Job) =>
    run(insert, store, queue, name, priority, state, runAt)
  const find = (wanted: ReadonlyArray<readonly [queue: string, name: string | undefined, waiters: number]>) =>
    Patrol.find(
      { clock, sessions: hot, line: { channel: "jobwire", speak: () => {}, hangUp: () => {} } },
      wanted.map(([queue, name, waiters]) => ({ key: { store, queue, name }, waiters })),
      []
    ).pipe(
      Effect.map((found) =>
        Object.fromEntries(found.map(({ key, waiters }) => [`${key.queue}/${key.name ?? "any"}`, waiters]))
      )
    )
  return { now, put, run, find, store }
})

describe("a look", () => {
  it.live("counts what can be claimed, up to the number of those who wait", () =>
    Effect.gen(function* () {
      const { find, now, put } = yield* setUp
      yield* put({ queue: "q", name: "new", state: fresh })
      yield* put({ queue: "q", name: "new", state: fresh, priority: 5 })
      yield* put({ queue: "q", name: "back", state: returned })
      yield* put({ queue: "q", name: "due", state: delayed, runAt: now - 1 })
      yield* put({ queue: "q", name: "later", state: delayed, runAt: now + 60_000 })
      yield* put({ queue: "q", name: "running", state: active })
      yield* put({ queue: "other", name: "elsewhere", state: fresh })
      const names = ["new", "back", "due", "later", "running", "elsewhere", undefined]
      const each = (waiters: number) => find(names.map((name) => ["q", name, waiters] as const))
      assert.deepStrictEqual(yield* each(9), { "q/new": 2, "q/back": 1, "q/due": 1, "q/any": 4 })
      assert.deepStrictEqual(yield* each(1), { "q/new": 1, "q/back": 1, "q/due": 1, "q/any": 1 })
      assert.deepStrictEqual(yield* find([["none", "new", 1]]), {})
    }).pipe(Effect.scoped)
  )

  it.live("finds nothing in a paused queue", () =>
    Effect.gen(function* () {
      const { find, put, run, store } = yield* setUp
      yield* put({ queue: "q", name: "a", state: fresh })
      yield* put({ queue: "open", name: "a", state: fresh })
      yield* run("insert into pause (store, queue) values ($1, 'q')", store)
      const wanted = [
        ["q", "a", 1],
        ["q", undefined, 1],
        ["open", "a", 1]
      ] as const
      assert.deepStrictEqual(yield* find(wanted), { "open/a": 1 })
    }).pipe(Effect.scoped)
  )
})
