/** Schedules and their ticks. */
import type { ScheduleRecord } from "@jobwire/protocol"
import { type Step, succeed } from "./answers.ts"
import { enqueueOne, runFieldsOf } from "./enqueue.ts"
import { compareText, type State, whole } from "./state.ts"

const findSchedule = (state: State, key: string): ScheduleRecord | undefined =>
  state.schedules.find((schedule) => schedule.key === key)

const putSchedule = (state: State, schedule: ScheduleRecord): State => ({
  ...state,
  schedules: [...state.schedules.filter(({ key }) => key !== schedule.key), schedule].toSorted((one, other) =>
    compareText(one.key, other.key)
  )
})

export const upsertSchedule: Step<"upsertSchedule"> = (state, _now, [given]) => {
  const everyMs = given.everyMs === undefined ? undefined : whole(given.everyMs)
  const schedule = { ...given, ...runFieldsOf(given), everyMs }
  const stored = findSchedule(state, given.key)
  const isUnchanged = stored?.cron === given.cron && stored?.tz === given.tz && stored?.everyMs === everyMs
  const nextRunAt = stored !== undefined && isUnchanged ? stored.nextRunAt : given.nextRunAt
  return succeed(putSchedule(state, { ...schedule, nextRunAt }), undefined)
}

export const removeSchedule: Step<"removeSchedule"> = (state, _now, [key]) =>
  succeed(
    { ...state, schedules: state.schedules.filter((schedule) => schedule.key !== key) },
    findSchedule(state, key) !== undefined
  )

export const listSchedules: Step<"listSchedules"> = (state, _now, [filter = {}]) =>
  succeed(
    state,
    state.schedules.filter(
      ({ group, jobName, queue }) =>
        (filter.jobName === undefined || filter.jobName === jobName) &&
        (filter.queue === undefined || filter.queue === queue) &&
        (filter.group === undefined || filter.group === group)
    )
  )

export const dueSchedules: Step<"dueSchedules"> = (state, now) =>
  succeed(
    state,
    state.schedules
      .filter(({ nextRunAt }) => nextRunAt <= now)
      .toSorted((one, other) => one.nextRunAt - other.nextRunAt)
  )

/** The state with the schedule moved on; nothing when it does not stand where the caller believes. */
const advance = (state: State, key: string, expectedRunAt: number, nextRunAt: number): State | undefined => {
  const schedule = findSchedule(state, key)
  return schedule?.nextRunAt === expectedRunAt ? putSchedule(state, { ...schedule, nextRunAt }) : undefined
}

export const tickSchedule: Step<"tickSchedule"> = (state, now, [key, expectedRunAt, nextRunAt, request]) => {
  const advanced = advance(state, key, expectedRunAt, nextRunAt)
  if (advanced === undefined) return succeed(state, false)
  // A dedupe key that holds counts here like an id that exists.
  const [after, { duplicate }] = enqueueOne(advanced, now, request, undefined)
  return succeed(after, !duplicate)
}

export const advanceSchedule: Step<"advanceSchedule"> = (state, _now, [key, expectedRunAt, nextRunAt]) =>
  succeed(advance(state, key, expectedRunAt, nextRunAt) ?? state, undefined)
