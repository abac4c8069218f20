/** effect-mq's Postgres store, in the process of its user. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { JobStore } from "effect-mq"
import { DrizzleJobStore } from "effect-mq/drizzle-postgres"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { numberOf } from "../../contenders/setting.ts"
import type { Adapter, Place } from "../../contenders/Store.ts"
import { withSql } from "../postgres.ts"
import { benchStore, bulk } from "./store.ts"
import { tables } from "./tables.ts"

const fillWaiting = ({ name, queue }: Place, count: number): string => `
  insert into effect_mq_jobs (id, name, queue, state, payload, attempts_max, run_at, enqueued_at)
  select gen_random_uuid(), '${name}', '${queue}', 'waiting', payload, 1, now(), now()
  from (select payload from effect_mq_jobs limit 1) j, generate_series(1, ${count})`

// A finished job has a run in the ledger.
const fillFinished = ({ name, queue }: Place, count: number): string => `
  with done as (
    insert into effect_mq_jobs (id, name, queue, state, payload, attempts_max, attempts_made, run_at, enqueued_at, finished_at, exit)
    select gen_random_uuid(), '${name}', '${queue}', 'completed', payload, 1, 1, now(), now(), now(), '{"ok":true}'
    from (select payload from effect_mq_jobs limit 1) j, generate_series(1, ${count})
    returning id
  )
  insert into effect_mq_job_attempts (job_id, attempt, outcome, started_at, finished_at, exit)
  select id, 1, 'completed', now(), now(), '{"ok":true}' from done`

const adapter: Adapter = {
  bulk,
  prepare: async ({ url }) => {
    const program = fileURLToPath(new URL("./schema.ts", import.meta.url))
    const ddl = execFileSync(process.execPath, [program], { encoding: "utf8" })
    await withSql(url, (sql) => sql.run(ddl))
  },
  connect: async (target) => {
    const { url } = target
    const callers = numberOf(target, "callers")
    const client = PgClient.layer({ url: Redacted.make(url), maxConnections: callers })
    const runtime = ManagedRuntime.make(DrizzleJobStore.layer(tables).pipe(Layer.provide(client)))
    const store = await runtime.runPromise(Effect.service(JobStore.JobStore))
    return {
      ...benchStore(store, callers, () => runtime.dispose()),
      fillWaiting: (place, count) => withSql(url, (sql) => sql.run(fillWaiting(place, count))),
      fillFinished: (place, count) => withSql(url, (sql) => sql.run(fillFinished(place, count)))
    }
  }
}
export default adapter
