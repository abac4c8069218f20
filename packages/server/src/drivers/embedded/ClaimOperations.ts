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
  const { now, tables } = unit
  const promoted = promoteAll(unit, options.queue)
  const held = tables.jobs.heldBy(options.queue, options.token)
  if (held !== undefined) {
    const again = claimAgain(held, options.lockDurationMs, now)
    return again === held ? held : apply(unit, held, { row: again })
  }
  if (tables.pauses.has(options.queue)) return undefined
  const first = tables.jobs.firstWaiting(options.queue, options.names)
  // Whoever takes one of the promoted jobs needs no call; the others do.
  for (const row of promoted) {
    if (row.id !== first?.id) unit.wakes.job(row.queue, row.name)
  }
  return first === undefined
    ? undefined
    : apply(unit, first, { row: claimRow(first, options.token, options.lockDurationMs, now) })
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
