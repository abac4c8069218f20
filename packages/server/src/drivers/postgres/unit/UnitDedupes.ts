/** Dedupe keys as units see them. */
import type { DedupeRow } from "../../../core/JobRow.ts"
import type { DedupeTable } from "../../embedded/Tables.ts"
import * as Columns from "../Columns.ts"
import type { Row } from "../Connections.ts"
import { each, found } from "./Fences.ts"
import { KeyedRows } from "./KeyedRows.ts"
import { type Load, type Part, type Write, writing } from "./Load.ts"
import type { Run } from "./Run.ts"

type DedupeKey = Pick<DedupeRow, "name" | "key">

const keyFields: ReadonlyArray<Columns.Column<DedupeKey>> = [
  { name: "name", type: "text", of: (row) => row.name },
  { name: "key", type: "text", of: (row) => row.key }
]

const fields: ReadonlyArray<Columns.Column<DedupeRow>> = [
  ...keyFields,
  { name: "job_id", type: "text", of: (row) => row.jobId },
  { name: "expires_at", type: "float8", of: (row) => row.expiresAt }
]

const find = `
  select d.name, d.key, d.job_id, d.expires_at from ${Columns.rows(keyFields, "w", 2)}
  ${each("dedupe", "name = w.name and key = w.key", "d")}`

const put = (first: number): string => `
  insert into dedupe (store, ${Columns.names(fields)})
  select $1, ${Columns.values(fields, "r")} from ${Columns.rows(fields, "r", first)}
  on conflict (store, name, key) do update set job_id = excluded.job_id, expires_at = excluded.expires_at`

const remove = (first: number): string => `
  delete from dedupe t using ${Columns.rows(keyFields, "r", first)}
  ${found("dedupe", "name = r.name and key = r.key")} where t.ctid = f.at`

const decode = (row: Row): DedupeRow => {
  const [name, key, jobId, expiresAt] = row as readonly [string, string, string, number | null]
  return { name, key, jobId, expiresAt: expiresAt ?? undefined }
}

/** See `DedupeTable`. `names` is told which jobs the keys name. */
export class UnitDedupes implements DedupeTable, Part {
  readonly #rows: KeyedRows<DedupeKey, DedupeRow>
  readonly #names: (jobId: string) => void

  constructor(run: Run, names: (jobId: string) => void) {
    this.#names = names
    this.#rows = new KeyedRows(run, ({ key, name }) => JSON.stringify([name, key]))
  }

  get(name: string, key: string): DedupeRow | undefined {
    return this.#rows.get({ name, key })
  }

  put(row: DedupeRow): void {
    this.#rows.set({ name: row.name, key: row.key }, row)
  }

  delete(name: string, key: string): void {
    this.#rows.set({ name, key }, undefined)
  }

  all(): never {
    throw new Error("the dedupe keys of a PostgreSQL store are swept by a statement of their own")
  }

  loads(): ReadonlyArray<Load> {
    const keys = this.#rows.takeLacking()
    if (keys.length === 0) return []
    const receive: Load["receive"] = (columns) => {
      const rows = columns.map(decode)
      for (const { jobId } of rows) this.#names(jobId)
      this.#rows.receive(
        keys,
        rows.map((row) => [row, row])
      )
    }
    return [{ sql: find, parameters: Columns.parameters(keyFields, keys), receive }]
  }

  writes(): ReadonlyArray<Write> {
    const changes = this.#rows.changes()
    return [...writing(put, fields, changes.put), ...writing(remove, keyFields, changes.deleted)]
  }
}
