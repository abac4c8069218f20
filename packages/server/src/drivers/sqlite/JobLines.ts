/** Which job runs next, which is due, and whose lease holds or has run out. */
import type { DatabaseSync } from "node:sqlite"
import type { JobRow } from "../../core/JobRow.ts"
import type { JobTable } from "../embedded/Tables.ts"
import { decodeJob, type JobTuple, selectJob } from "./JobColumns.ts"
import { seqOf } from "./JobKey.ts"
import { type Lane, tallyOf } from "./Lanes.ts"
import { prepare, type Statement } from "./Statement.ts"
import type { StoreState } from "./StoreState.ts"

type Head = [priority: number, place: number, seq: number]

/** The statements that find jobs; exported for the test that reads their plans. */
export const findInLines = {
  firstInLane: `
    select priority, place, ${seqOf("key")} from status
    where store = ? and lane = ? and state = 0 order by priority desc, place limit 1`,
  earliestInLane: `select run_at from status where store = ? and lane = ? and state = 1 order by run_at limit 1`,
  due: `${selectJob} where s.store = ? and s.lane = ? and s.state = 1 and s.run_at <= ? limit ?`,
  heldBy: `${selectJob} where s.store = ? and s.token = ? and s.state = 2`,
  stalled: `${selectJob} where s.store = ? and s.state = 2 and s.lock_until <= ? order by s.key`
} as const

interface LineSql {
  readonly firstInLane: Statement<Head>
  readonly earliestInLane: Statement<[runAt: number]>
  readonly due: Statement<JobTuple>
}

/** The part of the table of jobs that is here. */
export type JobLines = Pick<JobTable, "firstWaiting" | "due" | "nextRunAt" | "heldBy" | "stalled">

/** Prepares the statements once; answers what makes this part of the table of a store. */
export const prepareLines = (db: DatabaseSync, byKey: Statement<JobTuple>): ((store: StoreState) => JobLines) => {
  const sql: LineSql = {
    firstInLane: prepare(db, findInLines.firstInLane),
    earliestInLane: prepare(db, findInLines.earliestInLane),
    due: prepare(db, findInLines.due)
  }
  const heldBy = prepare<JobTuple>(db, findInLines.heldBy)
  const stalled = prepare<JobTuple>(db, findInLines.stalled)
  return (store) => ({
    firstWaiting: (queue, names) => {
      const head = firstOfLanes(sql, store, lanesOf(store, queue, names))
      const tuple = head === undefined ? undefined : byKey.get(store.id, head[2])
      return tuple === undefined ? undefined : decodeJob(tuple, store.lanes)
    },
    due: (queue, now, limit) => dueInLanes(sql, store, queue, now, limit),
    nextRunAt: (queue, names) => {
      let next: number | undefined
      for (const lane of lanesOf(store, queue, names)) {
        const runAt = earliestOf(sql, store, lane)
        if (runAt !== undefined && (next === undefined || runAt < next)) next = runAt
      }
      return next
    },
    heldBy: (queue, token) => {
      const rows = heldBy.all(store.id, token).map((tuple) => decodeJob(tuple, store.lanes))
      return rows.find((row) => row.queue === queue)
    },
    stalled: (now) => stalled.all(store.id, now).map((tuple) => decodeJob(tuple, store.lanes))
  })
}

const lanesOf = (store: StoreState, queue: string, names: ReadonlyArray<string>): ReadonlyArray<Lane> => {
  const lanes = store.lanes.ofQueue(queue)
  return names.flatMap((name) => lanes.get(name) ?? [])
}

// Each lane has its own line in the index, so jobs of other names cost nothing, however many wait before this one.
const firstOfLanes = (sql: LineSql, store: StoreState, lanes: ReadonlyArray<Lane>): Head | undefined => {
  let best: Head | undefined
  for (const lane of lanes) {
    if (tallyOf(lane, "waiting") === 0) continue
    const head = sql.firstInLane.get(store.id, lane.id)
    if (head !== undefined && (best === undefined || runsBefore(head, best))) best = head
  }
  return best
}

const runsBefore = (one: Head, other: Head): boolean => one[0] > other[0] || (one[0] === other[0] && one[1] < other[1])

const dueInLanes = (
  sql: LineSql,
  store: StoreState,
  queue: string,
  now: number,
  limit: number
): ReadonlyArray<JobRow> => {
  const rows: Array<JobRow> = []
  for (const lane of store.lanes.ofQueue(queue).values()) {
    if (lane.delayedFrom > now) continue
    if (rows.length === limit) break
    const earliest = earliestOf(sql, store, lane)
    if (earliest === undefined || earliest > now) continue
    for (const tuple of sql.due.all(store.id, lane.id, now, limit - rows.length)) {
      rows.push(decodeJob(tuple, store.lanes))
    }
  }
  return rows
}

/** The earliest `runAt` of a lane's delayed jobs; what it finds spares the next look. */
const earliestOf = (sql: LineSql, store: StoreState, lane: Lane): number | undefined => {
  if (tallyOf(lane, "delayed") === 0) return undefined
  const earliest = sql.earliestInLane.get(store.id, lane.id)?.[0]
  if (earliest !== undefined) lane.delayedFrom = earliest
  return earliest
}
