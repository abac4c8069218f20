/**
 * Looking at jobs: one statement each, on the pool of lists and dashboards, so that nobody who looks holds up a worker. Each sees one
 * moment of the store.
 */
import type { JobStore, JobStoreError, Limits } from "@jobwire/protocol"
import { Effect, Option, Result } from "effect"
import * as LiveClock from "../../../LiveClock.ts"
import { defaultLength, pageOf, resolve } from "../../embedded/QueryOperations.ts"
import { attemptRecord, jobRecord } from "../../embedded/Records.ts"
import type { JobQuery } from "../../embedded/Tables.ts"
import type { Row, Sessions } from "../Connections.ts"
import { decodeJob, jobColumns, jobTables } from "../JobColumns.ts"
import { fromSql } from "../PostgresFault.ts"
import { again } from "../unit/Outcome.ts"
import { attemptColumns, decodeAttempt, endColumns } from "./Attempts.ts"
import * as Counts from "./Counts.ts"
import { choose, matching } from "./ListPlan.ts"
import { listStatement, type PageSize } from "./ListStatement.ts"

/** What looking at one store needs. */
export interface Looker {
  readonly sessions: Sessions
  readonly store: number
  readonly limits: Limits.Limits
  readonly hasMetadataIndex: boolean
}

type Run = (sql: string, parameters: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>, JobStoreError>

const runner =
  ({ sessions }: Looker): Run =>
  (sql, parameters) =>
    sessions
      .use((session) => session.run(sql, parameters))
      .pipe(Effect.retry(again), LiveClock.withLive, Effect.mapError(fromSql))

const jobById = `select ${jobColumns} from ${jobTables} where j.store = $1 and j.id = $2`

const attemptsById = `
  select ${attemptColumns} from job j join attempt a on a.store = j.store and a.seq = j.seq where j.store = $1 and j.id = $2
  union all
  select ${endColumns} from job j join done d on d.store = j.store and d.seq = j.seq where j.store = $1 and j.id = $2
  order by 1`

const getJob =
  ({ store }: Looker, run: Run): JobStore.Service["getJob"] =>
  (id) =>
    Effect.map(run(jobById, [store, id]), ([row]) =>
      Option.map(Option.fromUndefinedOr(row), (row) => jobRecord(decodeJob(row)))
    )

const getAttempts =
  ({ store }: Looker, run: Run): JobStore.Service["getAttempts"] =>
  (id) =>
    Effect.map(run(attemptsById, [store, id]), (rows) => rows.map((row) => attemptRecord(decodeAttempt(row))))

const counts =
  ({ store }: Looker, run: Run): JobStore.Service["counts"] =>
  (queue) =>
    Effect.map(queue === undefined ? run(Counts.ofStore, [store]) : run(Counts.ofQueue, [store, queue]), ([row]) =>
      Counts.decodeCounts(row)
    )

/** Which way suits a page: by how many jobs match, of how many. */
const planOf = Effect.fnUntraced(function* ({ store }: Looker, run: Run, query: JobQuery, length: number) {
  const isWhole = query.queue === undefined && query.name === undefined
  const [all] = yield* run(Counts.ofStore, [store])
  const [of] = isWhole ? [all] : yield* run(Counts.ofNames, [store, query.queue ?? null, query.name ?? null])
  return choose(query, length, matching(Counts.decodeCounts(of), query.states), matching(Counts.decodeCounts(all)))
})

const readPage = Effect.fnUntraced(function* (looker: Looker, run: Run, query: JobQuery, size: PageSize) {
  const plan = yield* planOf(looker, run, query, size.length)
  const { parameters, sql } = listStatement(looker.store, query, plan, size, looker.hasMetadataIndex)
  const rows = yield* run(sql, parameters)
  const found = Number(rows[0]?.at(-1) ?? 0)
  return pageOf(query, rows.map(decodeJob), found > rows.length)
})

const list =
  (looker: Looker, run: Run): JobStore.Service["list"] =>
  (options) => {
    const query = resolve(options)
    if (Result.isFailure(query)) return Effect.fail(query.failure)
    if (query.success.states?.length === 0) return Effect.succeed({ items: [], cursor: undefined })
    const length = Math.min(options.limit ?? defaultLength, looker.limits.pageLength)
    return readPage(looker, run, query.success, { length, bytes: looker.limits.pageBytes })
  }

/** The operations that only look. */
export const operations = (looker: Looker): Pick<JobStore.Service, "getJob" | "getAttempts" | "counts" | "list"> => {
  const run = runner(looker)
  return {
    getJob: getJob(looker, run),
    getAttempts: getAttempts(looker, run),
    counts: counts(looker, run),
    list: list(looker, run)
  }
}
