/** Why calls found too little, for concurrent callers at once; see QueueCheck.ts. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Session } from "../Connections.ts"
import { type Call, type CallGroup, groupCalls, toGroup } from "./ClaimRuns.ts"
import * as QueueCheck from "./QueueCheck.ts"

/** What a call stands before. */
export interface CallStanding {
  readonly group: CallGroup
  readonly standing: QueueCheck.Standing
  /** Whether one of its own tokens holds a job. */
  readonly isHeld: boolean
}

/** Looks for all of them; answers by position. */
export const run = (
  session: Session,
  calls: ReadonlyArray<Call>
): Effect.Effect<ReadonlyArray<CallStanding>, SqlError> => {
  const groups = groupCalls(calls)
  const parameters = QueueCheck.parameters(groups.map((group) => toGroup(group, [])))
  const sql = calls.some(({ hasSome }) => hasSome) ? QueueCheck.sqlOfFree : QueueCheck.sql
  return Effect.map(session.run(sql, parameters), (rows) => {
    const standings = new Map<Call, CallStanding>()
    let first = 0
    groups.forEach((group, index) => {
      const row = rows[index]
      if (row === undefined) return
      const standing = QueueCheck.decode(row)
      for (const call of group.calls) {
        const from = first
        const isHeld = call.tokens.some((_, token) => standing.held.has(from + token))
        standings.set(call, { group, standing, isHeld })
        first += call.tokens.length
      }
    })
    // There is a row for each group, and each call is of one.
    return calls.map((call) => standings.get(call) as CallStanding)
  })
}
