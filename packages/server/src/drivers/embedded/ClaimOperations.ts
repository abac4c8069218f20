/** Taking jobs, and waiting for some. */
import type { ClaimOptions, ClaimResult, JobStore } from "@jobwire/protocol"
import { Effect } from "effect"
import { claim as claimRow, claimAgain } from "../../core/Claim.ts"
import type { JobRow } from "../../core/JobRow.ts"
import { promoteDue } from "../../core/Promote.ts"
import { apply } from "./Apply.ts"
import type { Engine, Unit } from "./Engine.ts"
import { jobRecord } from "./Records.ts"

// When very many jobs come due at once, others get their turn while they are promoted.
const mostAtOnce = 1000

export const claim = (engine: Engine): JobStore.Service["claim"] => {
  const attempt: JobStore.Service["claim"] = (options) =>
    Effect.flatMap(
      engine.write((unit) => claimIn(engine, unit, options)),
      (result) => (result === undefined ? Effect.andThen(Effect.yieldNow, attempt(options)) : Effect.succeed(result))
    )
  return attempt
}

export const awaitWake =
  (engine: Engine): JobStore.Service["awaitWake"] =>
  (queues, wakeToken) =>
    engine.wake.awaitWake(queues, wakeToken)

/** The result of a claim; `undefined` when more jobs are due than one unit promotes, and the best may be among the rest. */
const claimIn = (engine: Engine, unit: Unit, options: ClaimOptions): ClaimResult | undefined => {
  const { queue, token } = options
  const { jobs, pauses } = unit.tables
  const { more, promoted } = promote(unit, queue)
  const isPaused = pauses.has(queue)
  const held = more ? undefined : jobs.heldBy(queue, token)
  const claimed =
    held === undefined ? (more || isPaused ? undefined : takeFirst(unit, options)) : takeAgain(unit, held, options)
  // Whoever takes a promoted job needs no call; the takers of the others do, unless they could take nothing.
  for (const row of isPaused ? [] : promoted) {
    if (row.id !== claimed?.id) unit.wakes.job(row.queue, row.name)
  }
  if (more) return undefined
  return claimed === undefined ? empty(engine, unit, options) : { _tag: "Claimed", job: jobRecord(claimed) }
}

const takeFirst = (unit: Unit, { lockDurationMs, names, queue, token }: ClaimOptions): JobRow | undefined => {
  const first = unit.tables.jobs.firstWaiting(queue, names)
  return first === undefined ? undefined : apply(unit, first, { row: claimRow(first, token, lockDurationMs, unit.now) })
}

const takeAgain = (unit: Unit, held: JobRow, { lockDurationMs }: ClaimOptions): JobRow => {
  const again = claimAgain(held, lockDurationMs, unit.now)
  return again === held ? held : apply(unit, held, { row: again })
}

const promote = (unit: Unit, queue: string) => {
  const due = unit.tables.jobs.due(queue, unit.now, mostAtOnce + 1)
  const promoted = due.slice(0, mostAtOnce)
  for (const row of promoted) apply(unit, row, promoteDue(row))
  return { promoted, more: due.length > promoted.length }
}

// The token is taken while the unit looks: what commits later is later than the token.
const empty = (engine: Engine, { tables }: Unit, { names, queue }: ClaimOptions): ClaimResult => ({
  _tag: "Empty",
  nextRunAt: tables.jobs.nextRunAt(queue, names),
  wakeToken: engine.wake.token(queue, names)
})
