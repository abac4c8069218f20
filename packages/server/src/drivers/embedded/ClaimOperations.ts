/** Taking jobs, and waiting for some. */
import type { ClaimOptions, ClaimResult, JobStore } from "@jobwire/protocol"
import { claim as claimRow, claimAgain } from "../../core/Claim.ts"
import type { JobRow } from "../../core/JobRow.ts"
import { promoteDue } from "../../core/Promote.ts"
import { apply } from "./Apply.ts"
import type { Engine, Unit } from "./Engine.ts"
import { jobRecord } from "./Records.ts"

export const claim =
  (engine: Engine): JobStore.Service["claim"] =>
  (options) =>
    engine.write((unit) => {
      const claimed = claimIn(unit, options)
      return claimed === undefined ? empty(engine, unit, options) : { _tag: "Claimed", job: jobRecord(claimed) }
    })

export const awaitWake =
  (engine: Engine): JobStore.Service["awaitWake"] =>
  (queues, wakeToken) =>
    engine.wake.awaitWake(queues, wakeToken)

const claimIn = (unit: Unit, options: ClaimOptions): JobRow | undefined => {
  const { queue, token } = options
  const { jobs, pauses } = unit.tables
  const promoted = promoteAll(unit, queue)
  const isPaused = pauses.has(queue)
  const held = jobs.heldBy(queue, token)
  const claimed =
    held === undefined ? (isPaused ? undefined : takeFirst(unit, options)) : takeAgain(unit, held, options)
  // Whoever takes a promoted job needs no call; the takers of the others do, unless they could take nothing.
  for (const row of isPaused ? [] : promoted) {
    if (row.id !== claimed?.id) unit.wakes.job(row.queue, row.name)
  }
  return claimed
}

const takeFirst = (unit: Unit, { lockDurationMs, names, queue, token }: ClaimOptions): JobRow | undefined => {
  const first = unit.tables.jobs.firstWaiting(queue, names)
  return first === undefined ? undefined : apply(unit, first, { row: claimRow(first, token, lockDurationMs, unit.now) })
}

const takeAgain = (unit: Unit, held: JobRow, { lockDurationMs }: ClaimOptions): JobRow => {
  const again = claimAgain(held, lockDurationMs, unit.now)
  return again === held ? held : apply(unit, held, { row: again })
}

const promoteAll = (unit: Unit, queue: string): ReadonlyArray<JobRow> => {
  const due = unit.tables.jobs.due(queue, unit.now)
  for (const row of due) apply(unit, row, promoteDue(row))
  return due
}

// The token is taken while the unit looks: what commits later is later than the token.
const empty = (engine: Engine, { tables }: Unit, { names, queue }: ClaimOptions): ClaimResult => ({
  _tag: "Empty",
  nextRunAt: tables.jobs.nextRunAt(queue, names),
  wakeToken: engine.wake.token(queue, names)
})
