/** Writing what the core decided: the one place where a decision becomes rows. */
import { isFreedBy } from "../../core/Dedupe.ts"
import type { Decision } from "../../core/Decision.ts"
import { cancelChild } from "../../core/Flow.ts"
import type { JobRow } from "../../core/JobRow.ts"
import { isYoung, ofDeleted } from "../../core/Receipt.ts"
import type { KeepCut } from "../../core/Retention.ts"
import type { Unit } from "./Engine.ts"
import type { Tables } from "./Tables.ts"

/** Writes all of a decision about the job that is `before`; answers the job as it is now. */
export const apply = (unit: Unit, before: JobRow, decision: Decision): JobRow => {
  const { now, tables, wakes } = unit
  const row = decision.toBack === true ? { ...decision.row, place: tables.jobs.next() } : decision.row
  tables.jobs.update(before, row)
  if (decision.attempt !== undefined) tables.attempts.append(row, decision.attempt)
  if (decision.children !== undefined) tables.children.insert(decision.children)
  if (decision.cancelsChildren === true) cancelChildren(tables, row.id)
  if (decision.report !== undefined) tables.outbox.append(decision.report)
  if (decision.freesDedupe === true) freeDedupe(tables, row, now)
  if (decision.prune !== undefined) prune(tables, decision.prune, now)
  if (decision.wakes === true) wakes.job(row.queue, row.name)
  return row
}

/** Deletes a job with its ledger and dependency rows, and frees a dedupe key that no window holds longer. */
export const deleteJob = (tables: Tables, row: JobRow, now: number): void => {
  if (isYoung(row, now)) tables.receipts.put(ofDeleted(row, now))
  tables.jobs.delete(row)
  freeDedupe(tables, row, now)
}

/** Deletes a finished job, unless it is a parent that still owes cancels to its children. */
export const forgetJob = (tables: Tables, row: JobRow, now: number): void => {
  if (row.flow === undefined || !tables.children.owesCascade(row.id)) deleteJob(tables, row, now)
}

const cancelChildren = (tables: Tables, flowId: string): void => {
  for (const child of tables.children.withStatus(flowId, "pending")) tables.children.update(child, cancelChild(child))
}

const freeDedupe = (tables: Tables, row: JobRow, now: number): void => {
  if (row.dedupeKey === undefined) return
  if (isFreedBy(tables.dedupes.get(row.name, row.dedupeKey), row.id, now))
    tables.dedupes.delete(row.name, row.dedupeKey)
}

const prune = (tables: Tables, { count, finishedUntil, name, state }: KeepCut, now: number): void => {
  if (finishedUntil !== undefined) {
    for (const row of tables.history.until(name, state, finishedUntil)) forgetJob(tables, row, now)
  }
  if (count !== undefined) {
    for (const row of tables.history.beyond(name, state, count)) forgetJob(tables, row, now)
  }
}
