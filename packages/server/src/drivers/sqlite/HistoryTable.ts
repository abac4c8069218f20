/** Finished jobs, for retention. */
import type { TerminalState } from "@jobwire/protocol"
import type { DatabaseSync } from "node:sqlite"
import type { JobRow } from "../../core/JobRow.ts"
import type { HistoryTable } from "../embedded/Tables.ts"
import { states } from "../columns/Codes.ts"
import { decodeJob, type JobTuple, selectJob } from "./JobColumns.ts"
import { keyOf, seqOf } from "./JobKey.ts"
import { tallyOf } from "./Lanes.ts"
import { prepare } from "./Statement.ts"
import type { StoreState } from "./StoreState.ts"

/** The statements that find finished jobs; exported for the test that reads their plans. */
export const findHistory = {
  oldest: `
    select finished_at, place, ${seqOf("key")} from status
    where store = ? and lane = ? and state = ? and state >= 4 order by finished_at, place limit ?`,
  until: `${selectJob} where s.store = ? and s.lane = ? and s.state = ? and s.state >= 4 and s.finished_at <= ?`
} as const

/** Prepares the statements once; answers what makes the table of a store. */
export const prepareHistory = (db: DatabaseSync): ((store: StoreState) => HistoryTable) => {
  const byKey = prepare<JobTuple>(db, `${selectJob} where s.key = ${keyOf("?1", "?2")}`)
  const oldest = prepare<[finishedAt: number, place: number, seq: number]>(db, findHistory.oldest)
  const until = prepare<JobTuple>(db, findHistory.until)

  // The tallies say how many are too many, so only those are read, from the oldest on.
  const beyond = (store: StoreState, name: string, state: TerminalState, count: number): ReadonlyArray<JobRow> => {
    const lanes = [...store.lanes.ofName(name).values()]
    const excess = lanes.reduce((sum, lane) => sum + tallyOf(lane, state), 0) - count
    if (excess <= 0) return []
    const found = lanes.flatMap((lane) => oldest.all(store.id, lane.id, states.code(state), excess))
    found.sort((one, other) => one[0] - other[0] || one[1] - other[1])
    return found.slice(0, excess).flatMap(([, , seq]) => {
      const tuple = byKey.get(store.id, seq)
      return tuple === undefined ? [] : [decodeJob(tuple, store.lanes)]
    })
  }

  return (store) => ({
    beyond: (name, state, count) => beyond(store, name, state, count),
    until: (name, state, moment) =>
      [...store.lanes.ofName(name).values()].flatMap((lane) =>
        until.all(store.id, lane.id, states.code(state), moment).map((tuple) => decodeJob(tuple, store.lanes))
      )
  })
}
