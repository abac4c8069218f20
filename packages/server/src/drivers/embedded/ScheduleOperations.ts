/** Schedules and their ticks. */
import type { JobStore } from "@jobwire/protocol"
import { advance, upsert } from "../../core/Schedule.ts"
import type { Engine, Unit } from "./Engine.ts"
import { enqueueIn } from "./EnqueueOperations.ts"

export const upsertSchedule =
  (engine: Engine): JobStore.Service["upsertSchedule"] =>
  (schedule) =>
    engine.write(({ tables }) => {
      tables.schedules.put(upsert(tables.schedules.get(schedule.key), schedule))
    })

export const removeSchedule =
  (engine: Engine): JobStore.Service["removeSchedule"] =>
  (key) =>
    engine.write(({ tables }) => tables.schedules.delete(key))

export const listSchedules =
  (engine: Engine): JobStore.Service["listSchedules"] =>
  (filter) =>
    engine.read((tables) => tables.schedules.list(filter ?? {}))

export const dueSchedules =
  (engine: Engine): JobStore.Service["dueSchedules"] =>
  () =>
    engine.read((tables, now) => tables.schedules.due(now))

export const tickSchedule =
  (engine: Engine): JobStore.Service["tickSchedule"] =>
  (key, expectedRunAt, nextRunAt, request) =>
    engine.write((unit) => {
      if (!advanceIn(unit, key, expectedRunAt, nextRunAt)) return false
      // Validation refuses a request without an id, so none is ever drawn here.
      return enqueueIn(unit, request, () => undefined)?.duplicate === false
    })

export const advanceSchedule =
  (engine: Engine): JobStore.Service["advanceSchedule"] =>
  (key, expectedRunAt, nextRunAt) =>
    engine.write((unit) => {
      advanceIn(unit, key, expectedRunAt, nextRunAt)
    })

const advanceIn = ({ tables }: Unit, key: string, expectedRunAt: number, nextRunAt: number): boolean => {
  const advanced = advance(tables.schedules.get(key), expectedRunAt, nextRunAt)
  if (advanced === undefined) return false
  tables.schedules.put(advanced)
  return true
}
