/** Schedules: when a changed one starts anew, and who may move it. */
import type { ScheduleRecord } from "@jobwire/protocol"

/** What is stored when a schedule is given again: an unchanged cadence keeps its next occurrence. */
export const upsert = (existing: ScheduleRecord | undefined, given: ScheduleRecord): ScheduleRecord =>
  existing !== undefined && hasSameCadence(existing, given) ? { ...given, nextRunAt: existing.nextRunAt } : given

const hasSameCadence = (one: ScheduleRecord, other: ScheduleRecord): boolean =>
  one.cron === other.cron && one.tz === other.tz && one.everyMs === other.everyMs

/** The schedule moved on, or `undefined` when it does not stand where the caller believes. */
export const advance = (
  schedule: ScheduleRecord | undefined,
  expectedRunAt: number,
  nextRunAt: number
): ScheduleRecord | undefined =>
  schedule === undefined || schedule.nextRunAt !== expectedRunAt ? undefined : { ...schedule, nextRunAt }
