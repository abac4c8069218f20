/** Schedules as units see them, each as one text; only what is looked for is a column. */
import type { ScheduleFilter, ScheduleRecord } from "@jobwire/protocol"
import { decodeSchedule } from "../../columns/FieldText.ts"
import type { ScheduleTable } from "../../embedded/Tables.ts"
import * as Columns from "../Columns.ts"
import type { Row } from "../Connections.ts"
import type { Asked } from "./Asked.ts"
import { each, found } from "./Fences.ts"
import { KeyedRows } from "./KeyedRows.ts"
import { type Load, type Part, type Write, writing } from "./Load.ts"
import type { Run } from "./Run.ts"

const keyFields: ReadonlyArray<Columns.Column<string>> = [{ name: "key", type: "text", of: (key) => key }]

const fields: ReadonlyArray<Columns.Column<ScheduleRecord>> = [
  { name: "key", type: "text", of: (schedule) => schedule.key },
  { name: "next_run_at", type: "float8", of: (schedule) => schedule.nextRunAt },
  { name: "record", type: "text", of: (schedule) => JSON.stringify(schedule) }
]

const find = `select s.record from ${Columns.rows(keyFields, "w", 2)} ${each("schedule", "key = w.key", "s")}`

const list = "select record from schedule where store = $1 order by key"

const due = "select record from schedule where store = $1 and next_run_at <= $2::float8 order by next_run_at, key"

const put = (first: number): string => `
  insert into schedule (store, ${Columns.names(fields)})
  select $1, ${Columns.values(fields, "r")} from ${Columns.rows(fields, "r", first)}
  on conflict (store, key) do update set next_run_at = excluded.next_run_at, record = excluded.record`

const remove = (first: number): string => `
  delete from schedule t using ${Columns.rows(keyFields, "r", first)} ${found("schedule", "key = r.key")}
  where t.ctid = f.at`

const decode = ([record]: Row): ScheduleRecord => decodeSchedule(String(record))

/** See `ScheduleTable`. */
export class UnitSchedules implements ScheduleTable, Part {
  readonly #rows: KeyedRows<string, ScheduleRecord>
  readonly #asked: Asked

  constructor(run: Run, asked: Asked) {
    this.#rows = new KeyedRows(run, (key) => key)
    this.#asked = asked
  }

  get(key: string): ScheduleRecord | undefined {
    return this.#rows.get(key)
  }

  put(schedule: ScheduleRecord): void {
    this.#rows.set(schedule.key, schedule)
  }

  delete(key: string): boolean {
    if (this.#rows.get(key) === undefined) return false
    this.#rows.set(key, undefined)
    return true
  }

  list({ group, jobName, queue }: ScheduleFilter): ReadonlyArray<ScheduleRecord> {
    return this.#asked
      .rows(list, [])
      .map(decode)
      .filter(
        (schedule) =>
          (jobName === undefined || schedule.jobName === jobName) &&
          (queue === undefined || schedule.queue === queue) &&
          (group === undefined || schedule.group === group)
      )
  }

  due(now: number): ReadonlyArray<ScheduleRecord> {
    return this.#asked.rows(due, [now]).map(decode)
  }

  loads(): ReadonlyArray<Load> {
    const keys = this.#rows.takeLacking()
    if (keys.length === 0) return []
    const receive: Load["receive"] = (rows) =>
      this.#rows.receive(
        keys,
        rows.map(decode).map((schedule) => [schedule.key, schedule])
      )
    return [{ sql: find, parameters: Columns.parameters(keyFields, keys), receive }]
  }

  writes(): ReadonlyArray<Write> {
    const changes = this.#rows.changes()
    return [...writing(put, fields, changes.put), ...writing(remove, keyFields, changes.deleted)]
  }
}
