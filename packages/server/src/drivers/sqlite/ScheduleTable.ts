/** Schedules by key, each as one text; only what is looked for is a column. */
import type { DatabaseSync } from "node:sqlite"
import type { ScheduleTable } from "../embedded/Tables.ts"
import { decodeSchedule } from "../columns/FieldText.ts"
import { prepare } from "./Statement.ts"
import type { StoreState } from "./StoreState.ts"

/** The statements that find schedules; exported for the test that reads their plans. */
export const findSchedules = {
  get: "select record from schedule where store = ? and key = ?",
  list: "select record from schedule where store = ? order by key",
  due: "select record from schedule where store = ? and next_run_at <= ? order by next_run_at, key"
} as const

/** Prepares the statements once; answers what makes the table of a store. */
export const prepareSchedules = (db: DatabaseSync): ((store: StoreState) => ScheduleTable) => {
  const get = prepare<[string]>(db, findSchedules.get)
  const list = prepare<[string]>(db, findSchedules.list)
  const due = prepare<[string]>(db, findSchedules.due)
  const put = prepare(
    db,
    `insert into schedule (store, key, next_run_at, record) values (?, ?, ?, ?)
     on conflict (store, key) do update set next_run_at = excluded.next_run_at, record = excluded.record`
  )
  const remove = prepare(db, "delete from schedule where store = ? and key = ?")
  return (store) => ({
    get: (key) => {
      const tuple = get.get(store.id, key)
      return tuple === undefined ? undefined : decodeSchedule(tuple[0])
    },
    put: (schedule) => {
      put.run(store.id, schedule.key, schedule.nextRunAt, JSON.stringify(schedule))
    },
    delete: (key) => remove.run(store.id, key).changes === 1,
    list: ({ group, jobName, queue }) =>
      list
        .all(store.id)
        .map(([record]) => decodeSchedule(record))
        .filter(
          (schedule) =>
            (jobName === undefined || schedule.jobName === jobName) &&
            (queue === undefined || schedule.queue === queue) &&
            (group === undefined || schedule.group === group)
        ),
    due: (now) => due.all(store.id, now).map(([record]) => decodeSchedule(record))
  })
}
