/** Schedules: when a changed one starts anew, and who may move it. */
import type { ScheduleRecord } from "@jobwire/protocol"
import { backoffPolicy, keepPolicy, optionally } from "./RunFields.ts"
import { wholeMs } from "./Time.ts"

/** What is stored when a schedule is given, perhaps again: an unchanged cadence keeps its next occurrence. */
export const upsert = (existing: ScheduleRecord | undefined, given: ScheduleRecord): ScheduleRecord => {
  const kept: ScheduleRecord = {
    ...given,
    everyMs: optionally(given.everyMs, wholeMs),
    backoff: optionally(given.backoff, backoffPolicy),
    keep: optionally(given.keep, keepPolicy),
    timeoutMs: optionally(given.timeoutMs, wholeMs)
  }
  return existing !== undefined && hasSameCadence(existing, kept) ? { ...kept, nextRunAt: existing.nextRunAt } : kept
}

const hasSameCadence = (one: ScheduleRecord, other: ScheduleRecord): boolean =>
  one.cron === other.cron && one.tz === other.tz && one.everyMs === other.everyMs

/** The schedule moved on, or `undefined` when it does not stand where the caller believes. */
export const advance = (
  schedule: ScheduleRecord | undefined,
  expectedRunAt: number,
  nextRunAt: number
): ScheduleRecord | undefined =>
  schedule === undefined || schedule.nextRunAt !== expectedRunAt ? undefined : { ...schedule, nextRunAt }
