/** What people do to one job by hand. */
import { JobNotFoundError, type JobStore } from "@jobwire/protocol"
import { Result } from "effect"
import { cancel as cancelRow } from "../../core/Cancel.ts"
import type { Decision } from "../../core/Decision.ts"
import { keyedBy } from "../../core/Dedupe.ts"
import type { JobRow } from "../../core/JobRow.ts"
import { promote as promoteRow } from "../../core/Promote.ts"
import { isRemovable } from "../../core/Remove.ts"
import { retry as retryRow } from "../../core/Retry.ts"
import { apply, deleteJob } from "./Apply.ts"
import type { Engine, Unit } from "./Engine.ts"

export const retry =
  (engine: Engine): JobStore.Service["retry"] =>
  (id) =>
    engine.decide((unit) => transition(unit, id, retryRow))

export const cancel =
  (engine: Engine): JobStore.Service["cancel"] =>
  (id) =>
    engine.decide((unit) => transition(unit, id, cancelRow))

export const cancelByDedupe =
  (engine: Engine): JobStore.Service["cancelByDedupe"] =>
  (name, key) =>
    engine.write((unit) => {
      const entry = unit.tables.dedupes.get(name, key)
      const keyed = entry === undefined ? undefined : keyedBy(entry, unit.tables.jobs.get(entry.jobId))
      return keyed !== undefined && Result.isSuccess(transition(unit, keyed.id, cancelRow))
    })

export const promote =
  (engine: Engine): JobStore.Service["promote"] =>
  (id) =>
    engine.decide((unit) => transition(unit, id, promoteRow))

export const remove =
  (engine: Engine): JobStore.Service["remove"] =>
  (id) =>
    engine.write(({ now, tables }) => {
      const row = tables.jobs.get(id)
      if (row === undefined || !isRemovable(row)) return false
      deleteJob(tables, row, now)
      return true
    })

const transition = <E>(
  unit: Unit,
  id: string,
  decide: (row: JobRow, now: number) => Result.Result<Decision, E>
): Result.Result<void, JobNotFoundError | E> => {
  const row = unit.tables.jobs.get(id)
  if (row === undefined) return Result.fail(new JobNotFoundError({ jobId: id }))
  return Result.map(decide(row, unit.now), (decision) => {
    apply(unit, row, decision)
  })
}
