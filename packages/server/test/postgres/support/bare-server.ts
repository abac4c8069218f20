/**
 * A server with nothing but its wake-ups and the barest of stores: jobs without payload go in and are claimed by one statement each. What
 * it says to the others can be held back, as when it dies before it has told.
 */
import { Effect, type Redacted, type Scope } from "effect"
import * as Connections from "../../../src/drivers/postgres/Connections.ts"
import * as PostgresWake from "../../../src/drivers/postgres/wake/PostgresWake.ts"

export const queue = "queue"

const insert = `
  with l as (
    insert into lane (store, queue, name, priority) values ($1, $2, $3, 0)
    on conflict (store, queue, name, priority) do update set priority = 0 returning lane
  )
  insert into live (store, seq, lane, queue_key, place, state, plain, cancel_requested, attempts_made, stalled_count, ledger_length, run_at)
  select $1, nextval('number'), l.lane, 0, nextval('number'), case when $4::float8 > 0 then 1 else 0 end, true, false, 0, 0, 0, $4::float8
  from l returning pg_current_xact_id()::text`

const claim = `
  with c as materialized (
    select j.seq from live j join lane l on l.store = j.store and l.lane = j.lane
    where j.store = $1 and (j.state = 0 or (j.state = 1 and j.run_at <= $4::float8)) and l.queue = $2 and l.name = any($3::text[])
    order by j.place limit 1 for update of j skip locked
  ), gone as (delete from live j using c where j.store = $1 and j.seq = c.seq returning j.seq)
  select (select count(*) from gone)::int4, pg_current_snapshot()::text`

/** See the file. */
export interface BareServer {
  /** Puts a job in, and tells of it unless it shall not. */
  readonly put: (
    name: string,
    options?: { readonly tells?: boolean; readonly runAt?: number }
  ) => Effect.Effect<void, unknown>
  /** The token of a claim for these names; nothing when there was a job, which is gone then. */
  readonly take: (...names: ReadonlyArray<string>) => Effect.Effect<string | undefined, unknown>
  readonly awaitWake: (token: string) => Effect.Effect<void>
  readonly parked: () => number
  /** The statements that its sessions have run. */
  readonly statements: Array<string>
}

let stores = 1_000_000 + Math.floor(Math.random() * 1_000_000)

/** The number of a store that nobody else has. */
export const newStore = (): number => stores++

const counting = (sessions: Connections.Sessions, statements: Array<string>): Connections.Sessions => ({
  use: (work) =>
    sessions.use((session) =>
      work({
        ...session,
        run: (sql, parameters) => {
          statements.push(sql)
          return session.run(sql, parameters)
        }
      })
    )
})

/** The server of a store, for as long as the scope lives. */
export const make: (
  url: Redacted.Redacted,
  store: number,
  options?: Partial<PostgresWake.WakeOptions>
) => Effect.Effect<BareServer, unknown, Scope.Scope> = Effect.fnUntraced(function* (url, store, options = {}) {
  const { hot } = yield* Connections.make({ url })
  const statements: Array<string> = []
  const wakes = yield* PostgresWake.make({ url, ...options }, counting(hot, statements))
  const wake = wakes.store(store)
  const put: BareServer["put"] = Effect.fnUntraced(function* (name, { runAt = 0, tells = true } = {}) {
    const rows = yield* hot.use((session) => session.run(insert, [store, queue, name, runAt]))
    if (tells) wake.notify([{ queue, name, count: 1 }], String(rows[0]?.[0]))
  })
  const take: BareServer["take"] = Effect.fnUntraced(function* (...names) {
    const rows = yield* hot.use((session) => session.run(claim, [store, queue, names, Date.now()]))
    const [taken, snapshot] = rows[0] ?? []
    return taken === 1 ? undefined : wake.tokenAt(String(snapshot), queue, names)
  })
  return {
    put,
    take,
    awaitWake: (token) => wake.awaitWake([queue], token),
    parked: wakes.parked,
    statements
  }
})
