/** Statements by themselves, over rows that a test has written, in a store that nobody else has. */
import { Limits } from "@jobwire/protocol"
import { Effect, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { AttemptRow, JobRow } from "../../../src/core/JobRow.ts"
import * as Columns from "../../../src/drivers/postgres/Columns.ts"
import * as Connections from "../../../src/drivers/postgres/Connections.ts"
import * as HotOperations from "../../../src/drivers/postgres/hot/HotOperations.ts"
import type { HotStore, Units } from "../../../src/drivers/postgres/hot/HotStore.ts"
import {
  decodeEnd,
  decodeJob,
  jobColumns,
  jobFields,
  jobTables,
  liveFields,
  type LiveItem
} from "../../../src/drivers/postgres/JobColumns.ts"
import * as LaneNumbers from "../../../src/drivers/postgres/LaneNumbers.ts"
import * as RowStates from "../../../src/drivers/postgres/RowStates.ts"
import { states } from "../../../src/drivers/columns/Codes.ts"
import { WakeHub } from "../../../src/drivers/wake/WakeHub.ts"
import { databaseUrl } from "../../../../../test/support/fresh-postgres.ts"
import { newStore } from "./bare-server.ts"

/** A job that waits in the place that it had before, or like any other. */
export interface Placed {
  readonly job: JobRow
  readonly hasReturned: boolean
}

/** A job as the database has it. */
export interface Stored {
  readonly job: JobRow
  readonly end: AttemptRow | undefined
}

/** See the file. */
export interface HotServer {
  /** A new store with these jobs, whose units do what is given. */
  readonly store: (
    jobs: ReadonlyArray<Placed>,
    options?: {
      readonly units?: Partial<Units>
      readonly limits?: Partial<Limits.Limits>
      /** Whether the server has claimed the active jobs itself. */
      readonly hasClaimed?: boolean
    }
  ) => Effect.Effect<TestStore, SqlError>
}

/** A store of the tests. */
export interface TestStore {
  readonly number: number
  readonly operations: HotOperations.HotOperations
  /** All of its jobs, by id. */
  readonly jobs: Effect.Effect<ReadonlyMap<string, Stored>, SqlError>
  /** What its counts have changed by, by state. */
  readonly counted: Effect.Effect<Readonly<Record<string, number>>, SqlError>
  /** The number of a job, if the server knows that the token holds it. */
  readonly known: (token: string, id: string) => number | undefined
}

const noUnits: Units = new Proxy<Partial<Units>>(
  {},
  { get: (_, operation) => () => Effect.die(new Error(`${String(operation)} was passed on`)) }
  // Whatever is asked for is there.
) as Units

const insertInto = (table: string, columns: ReadonlyArray<Columns.Column<never>>): string =>
  `insert into ${table} (store, ${Columns.names(columns)}) select $1, ${Columns.values(columns, "r")} from ${Columns.rows(columns, "r", 2)}`

const write = Effect.fnUntraced(function* (
  session: Connections.Session,
  number: number,
  lanes: LaneNumbers.LaneNumbers,
  placed: ReadonlyArray<Placed>
) {
  const jobs = placed.map(({ job }) => job)
  const made = yield* LaneNumbers.make(session, number, lanes.unknown(jobs))
  for (const [key, lane] of made) lanes.learn(key, lane)
  const items = placed.map(({ hasReturned, job }): LiveItem => ({
    job,
    lane: lanes.get(job),
    state: hasReturned && job.state === "waiting" ? RowStates.returned : states.code(job.state)
  }))
  yield* session.run(insertInto("job", jobFields), [number, ...Columns.parameters(jobFields, jobs)])
  yield* session.run(insertInto("live", liveFields), [number, ...Columns.parameters(liveFields, items)])
})

const counts = states.words.map((state) => state.replace("-", "_"))

/** A server of its own, for as long as the scope lives. */
export const make: Effect.Effect<HotServer, SqlError, Scope.Scope> = Effect.gen(function* () {
  const connections = yield* Connections.make({ url: databaseUrl() })
  const statements = yield* HotOperations.make(connections.hot)
  return {
    store: Effect.fnUntraced(function* (placed, { hasClaimed = false, limits, units } = {}) {
      const number = newStore()
      // The server knows nothing of the lanes that are there.
      yield* connections.hot.use((session) => write(session, number, new LaneNumbers.LaneNumbers(), placed))
      for (const { job } of hasClaimed ? placed : []) {
        if (job.token !== undefined) statements.numbers.learn(number, job.token, job)
      }
      const store: HotStore = {
        number,
        lanes: new LaneNumbers.LaneNumbers(),
        wake: new WakeHub(),
        limits: { ...Limits.defaults, ...limits },
        drawsIds: true,
        units: { ...noUnits, ...units }
      }
      const run = (sql: string) => connections.calm.use((session) => session.run(sql, [number]))
      return {
        number,
        operations: HotOperations.operations(statements, store),
        known: (token, id) => statements.numbers.find(number, token, id),
        jobs: Effect.map(run(`select ${jobColumns} from ${jobTables} where j.store = $1`), (rows) => {
          const stored = rows.map((row): Stored => ({ job: decodeJob(row), end: decodeEnd(row) }))
          return new Map(stored.map((each) => [each.job.id, each]))
        }),
        counted: Effect.map(
          run(
            `select ${counts.map((state) => `coalesce(sum(${state}), 0)::float8`).join(", ")} from (
              select store, ${counts.join(", ")} from tally union all select store, ${counts.join(", ")} from tally_change
            ) t where store = $1`
          ),
          (rows) => Object.fromEntries(states.words.map((state, index) => [state, Number(rows[0]?.[index])]))
        )
      }
    })
  }
})
