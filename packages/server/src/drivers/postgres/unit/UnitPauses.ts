/** Paused queues as units see them. */
import type { PauseTable } from "../../embedded/Tables.ts"
import * as Columns from "../Columns.ts"
import type { Asked } from "./Asked.ts"
import { each, found } from "./Fences.ts"
import { KeyedRows } from "./KeyedRows.ts"
import { type Load, type Part, type Write, writing } from "./Load.ts"
import type { Run } from "./Run.ts"

const fields: ReadonlyArray<Columns.Column<string>> = [{ name: "queue", type: "text", of: (queue) => queue }]

const find = `select p.queue from ${Columns.rows(fields, "w", 2)} ${each("pause", "queue = w.queue", "p")}`

const list = "select queue from pause where store = $1 order by queue"

const put = (first: number): string => `
  insert into pause (store, queue) select $1, r.queue from ${Columns.rows(fields, "r", first)}
  on conflict (store, queue) do nothing`

const remove = (first: number): string => `
  delete from pause t using ${Columns.rows(fields, "r", first)} ${found("pause", "queue = r.queue")}
  where t.ctid = f.at`

/** See `PauseTable`. */
export class UnitPauses implements PauseTable, Part {
  readonly #rows: KeyedRows<string, string>
  readonly #asked: Asked

  constructor(run: Run, asked: Asked) {
    this.#rows = new KeyedRows(run, (queue) => queue)
    this.#asked = asked
  }

  has(queue: string): boolean {
    return this.#rows.get(queue) !== undefined
  }

  add(queue: string): boolean {
    return this.#put(queue, queue)
  }

  delete(queue: string): boolean {
    return this.#put(queue, undefined)
  }

  list(): ReadonlyArray<string> {
    return this.#asked.rows(list, []).map(([queue]) => String(queue))
  }

  loads(): ReadonlyArray<Load> {
    const queues = this.#rows.takeLacking()
    if (queues.length === 0) return []
    const receive: Load["receive"] = (rows) =>
      this.#rows.receive(
        queues,
        rows.map(([queue]) => [String(queue), String(queue)])
      )
    return [{ sql: find, parameters: Columns.parameters(fields, queues), receive }]
  }

  writes(): ReadonlyArray<Write> {
    const changes = this.#rows.changes()
    return [...writing(put, fields, changes.put), ...writing(remove, fields, changes.deleted)]
  }

  #put(queue: string, row: string | undefined): boolean {
    if (this.#rows.get(queue) === row) return false
    this.#rows.set(queue, row)
    return true
  }
}
