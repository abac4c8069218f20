/** Ending, giving back and keeping claimed jobs. */
import {
  acked,
  type AckResult,
  JobNotFoundError,
  type JobStore,
  LockLostError,
  type RecoveredJob
} from "@jobwire/protocol"
import { Result } from "effect"
import { acknowledge } from "../../core/Ack.ts"
import { toText } from "../../core/JsonText.ts"
import { extend, holds } from "../../core/Lease.ts"
import { type AckItem, ackItems, ackKey, isOfAck, ofAck } from "../../core/Receipt.ts"
import { isRepeat } from "../../core/Ledger.ts"
import { release as releaseRow } from "../../core/Release.ts"
import { recover } from "../../core/Stall.ts"
import { apply } from "./Apply.ts"
import type { Engine, Unit } from "./Engine.ts"
import { inTurns } from "./Turns.ts"

type LockError = JobNotFoundError | LockLostError
type LockResult = Result.Result<void, LockError>

export const ack =
  (engine: Engine): JobStore.Service["ack"] =>
  (id, token, outcome) =>
    engine.decide((unit) => ackIn(unit, { id, token, outcome, before: 0 }))

export const ackMany =
  (engine: Engine): JobStore.Service["ackMany"] =>
  (acks) =>
    inTurns(ackItems(acks), (some) => engine.write((unit) => some.map((each) => resultOf(ackIn(unit, each)))))

const resultOf = Result.match({ onFailure: (error: LockError): AckResult => error, onSuccess: (): AckResult => acked })

const ackIn = (unit: Unit, ack: AckItem): LockResult => {
  const { id, outcome, token } = ack
  const { call, now, tables } = unit
  const row = tables.jobs.get(id)
  if (row === undefined) {
    // It may have finished the job, and retention have deleted that in the same moment.
    const found = call === undefined ? undefined : tables.receipts.get(ackKey(call, ack))
    return isOfAck(found, ack, now) ? Result.void : Result.fail(new JobNotFoundError({ jobId: id }))
  }
  if (holds(row, token)) {
    apply(unit, row, acknowledge(row, token, outcome, now))
    if (call !== undefined && tables.jobs.get(id) === undefined) tables.receipts.put(ofAck(call, ack, now))
    return Result.void
  }
  const entry = tables.attempts.byToken(row, token)
  const exit = "exit" in outcome ? toText(outcome.exit) : undefined
  return entry !== undefined && isRepeat(entry, outcome, exit)
    ? Result.void
    : Result.fail(new LockLostError({ jobId: id }))
}

export const release =
  (engine: Engine): JobStore.Service["release"] =>
  (id, token) =>
    engine.decide((unit): LockResult => {
      const row = unit.tables.jobs.get(id)
      if (row === undefined) return Result.fail(new JobNotFoundError({ jobId: id }))
      if (!holds(row, token)) return Result.fail(new LockLostError({ jobId: id }))
      apply(unit, row, releaseRow(row, unit.now))
      return Result.void
    })

export const extendLocks =
  (engine: Engine): JobStore.Service["extendLocks"] =>
  (locks, durationMs) =>
    engine.write((unit) => {
      const lost: Array<string> = []
      const cancelRequested: Array<string> = []
      for (const { id, token } of locks) {
        const row = unit.tables.jobs.get(id)
        if (row === undefined || !holds(row, token)) lost.push(id)
        else if (row.cancelRequested) cancelRequested.push(id)
        else apply(unit, row, { row: extend(row, durationMs, unit.now) })
      }
      return { lost, cancelRequested }
    })

export const recoverStalled =
  (engine: Engine): JobStore.Service["recoverStalled"] =>
  ({ maxStalledCount }) =>
    engine.write((unit) => {
      const recovered: Array<RecoveredJob> = []
      for (const row of unit.tables.jobs.stalled(unit.now)) {
        const { decision, report } = recover(row, maxStalledCount, unit.now)
        apply(unit, row, decision)
        if (report !== undefined) recovered.push(report)
      }
      return recovered
    })
