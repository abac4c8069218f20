/** What is over in one store, found through the indexes of the database: for the timed part of retention. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import type { HistoryTtl } from "../../../core/Retention.ts"
import { states, terminalStates } from "../../columns/Codes.ts"
import { type Finder, mostAtOnce } from "../../embedded/HistorySweep.ts"
import type { Row, Sessions } from "../Connections.ts"
import { fromSql } from "../PostgresFault.ts"

// Older than the store's ceiling for its state, or than its own rule; but for parents that still owe cancels to their children.
const expired = `
  select j.id from (
    select seq, flow from lane n
      cross join (values ${terminalStates.map((state, index) => `(${states.code(state)}, $${index + 2}::float8)`).join(", ")}) c (state, until)
      cross join lateral (
        select d.seq, d.flow from done d
        where d.store = $1 and d.lane = n.lane and d.state = c.state and d.finished_at <= c.until
        order by d.finished_at limit ${mostAtOnce}
      ) over_ceiling
    where n.store = $1
    union
    select d.seq, d.flow from done d where d.store = $1 and d.keep_until <= $5
  ) found
  join job j on j.store = $1 and j.seq = found.seq
  where found.flow is null or not exists (
    select from child o where o.store = $1 and o.flow_id = j.id and o.status = 3 and not o.cascaded
  )
  order by j.seq limit ${mostAtOnce}`

const receipts = `select key from receipt where store = $1 and expires_at <= $2 order by expires_at limit ${mostAtOnce}`

const dedupes = `select name, key from dedupe where store = $1 and expires_at <= $2 limit ${mostAtOnce}`

// Before all times: a state without a ceiling has nothing over it.
const never = -Infinity

const untilOf = (ttl: HistoryTtl, now: number): ReadonlyArray<number> =>
  terminalStates.map((state) => {
    const age = ttl[state]
    return age === undefined ? never : now - age
  })

/** The finder of one store. */
export const finder = (sessions: Sessions, store: number): Finder => {
  const run = (sql: string, parameters: ReadonlyArray<unknown>): Effect.Effect<ReadonlyArray<Row>, JobStoreError> =>
    Effect.mapError(
      sessions.use((session) => session.run(sql, parameters)),
      fromSql
    )
  return {
    // What was found is gone when the next portion is looked for; where it is not, looking on would find it again.
    expired: (ttl, after, now) =>
      Effect.map(run(expired, [store, ...untilOf(ttl, now), now]), (rows) => {
        const ids = rows.map(([id]) => String(id))
        const [first] = ids
        const goesOn = ids.length === mostAtOnce && first !== undefined && first !== after?.id
        return { ids, next: goesOn ? { value: 0, id: first } : undefined }
      }),
    receipts: (now) => Effect.map(run(receipts, [store, now]), (rows) => rows.map(([key]) => String(key))),
    dedupes: (now) =>
      Effect.map(run(dedupes, [store, now]), (rows) =>
        rows.map(([name, key]) => ({ name: String(name), key: String(key) }))
      )
  }
}
