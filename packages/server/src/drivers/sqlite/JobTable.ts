/** Jobs by id, by line, by lease. */
import type { DatabaseSync } from "node:sqlite"
import type { JobRow } from "../../core/JobRow.ts"
import type { JobTable } from "../embedded/Tables.ts"
import {
  decodeJob,
  encodePlace,
  encodeProgress,
  encodeWide,
  isPlaceChanged,
  isWideChanged,
  type JobTuple,
  placeColumns,
  progressColumns,
  selectJob,
  wideColumns
} from "./JobColumns.ts"
import { keyOf } from "./JobKey.ts"
import { prepareLines } from "./JobLines.ts"
import { prepareScan } from "./JobScan.ts"
import { type Lane, sumTallies } from "./Lanes.ts"
import { prepare, type Statement } from "./Statement.ts"
import type { StoreState } from "./StoreState.ts"

interface JobSql {
  readonly byId: Statement<JobTuple>
  readonly byKey: Statement<JobTuple>
  readonly insertStatus: Statement
  readonly insertJob: Statement
  readonly updatePlace: Statement
  readonly updateProgress: Statement
  readonly updateJob: Statement
  readonly deleting: ReadonlyArray<Statement>
}

const key = keyOf("?1", "?2")

// Parameters of columns come behind those of the key.
const placeholders = (columns: ReadonlyArray<string>): string => columns.map((_, index) => `?${index + 3}`).join(", ")
const assignments = (columns: ReadonlyArray<string>): string =>
  columns.map((column, index) => `${column} = ?${index + 3}`).join(", ")

/** The statements that find one job; exported for the test that reads their plans. */
export const findJob = {
  byId: `${selectJob} where s.store = ? and s.id = ?`,
  byKey: `${selectJob} where s.key = ${key}`
} as const

const statusColumns = ["id", ...placeColumns, ...progressColumns]

const prepareJobSql = (db: DatabaseSync): JobSql => ({
  byId: prepare(db, findJob.byId),
  byKey: prepare(db, findJob.byKey),
  insertStatus: prepare(
    db,
    `insert into status (key, store, ${statusColumns.join(", ")}) values (${key}, ?1, ${placeholders(statusColumns)})`
  ),
  insertJob: prepare(
    db,
    `insert into job (key, ${wideColumns.join(", ")}) values (${key}, ${placeholders(wideColumns)})`
  ),
  updatePlace: prepare(
    db,
    `update status set ${assignments([...placeColumns, ...progressColumns])} where key = ${key}`
  ),
  updateProgress: prepare(db, `update status set ${assignments(progressColumns)} where key = ${key}`),
  updateJob: prepare(db, `update job set ${assignments(wideColumns)} where key = ${key}`),
  deleting: [
    prepare(db, `delete from status where key = ${key}`),
    prepare(db, `delete from job where key = ${key}`),
    prepare(db, "delete from attempt where store = ?1 and seq = ?2")
  ]
})

/** The statements that delete the dependency rows of a parent. */
const prepareDeleteFlow = (db: DatabaseSync): ReadonlyArray<Statement> => [
  prepare(db, "delete from child where store = ? and flow_id = ?"),
  prepare(db, "delete from child_request where store = ? and flow_id = ?")
]

/** Prepares the statements once; answers what makes the table of a store. */
export const prepareJobs = (db: DatabaseSync): ((store: StoreState) => JobTable) => {
  const sql = prepareJobSql(db)
  const deleteFlow = prepareDeleteFlow(db)
  const lines = prepareLines(db, sql.byKey)
  const scanOf = prepareScan(db, sql.byKey)
  return (store) => ({
    next: () => store.next(),
    get: (id) => {
      const tuple = sql.byId.get(store.id, id)
      return tuple === undefined ? undefined : decodeJob(tuple, store.lanes)
    },
    insert: (row) => {
      const lane = store.laneFor(row.queue, row.name)
      sql.insertStatus.run(store.id, row.seq, row.id, ...encodePlace(row, lane), ...encodeProgress(row))
      sql.insertJob.run(store.id, row.seq, ...encodeWide(row))
      enter(store, lane, row)
    },
    update: (before, after) => {
      const progress = encodeProgress(after)
      if (isPlaceChanged(before, after)) {
        const lane = store.laneFor(after.queue, after.name)
        sql.updatePlace.run(store.id, after.seq, ...encodePlace(after, lane), ...progress)
        leave(store, before)
        enter(store, lane, after)
      } else {
        sql.updateProgress.run(store.id, after.seq, ...progress)
      }
      if (isWideChanged(before, after)) sql.updateJob.run(store.id, after.seq, ...encodeWide(after))
    },
    delete: (row) => {
      for (const statement of sql.deleting) statement.run(store.id, row.seq)
      for (const statement of deleteFlow) statement.run(store.id, row.id)
      leave(store, row)
    },
    ...lines(store),
    scan: scanOf(store),
    counts: (queue) => sumTallies(store.lanes.matching(queue, undefined))
  })
}

const enter = (store: StoreState, lane: Lane, row: JobRow): void => {
  store.count(lane, row.state, 1)
  const { enqueuedAt, finishedAt = enqueuedAt, runAt } = row
  lane.earliest = Math.min(lane.earliest, enqueuedAt, runAt, finishedAt)
  lane.latest = Math.max(lane.latest, enqueuedAt, runAt, finishedAt)
  if (row.state === "delayed" && row.runAt < lane.delayedFrom) lane.delayedFrom = row.runAt
}

const leave = (store: StoreState, row: JobRow): void => {
  store.count(store.laneFor(row.queue, row.name), row.state, -1)
}
