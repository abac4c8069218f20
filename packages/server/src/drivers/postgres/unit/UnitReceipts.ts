/** Receipts as units see them. */
import type { ReceiptRow } from "../../../core/Receipt.ts"
import type { ReceiptTable } from "../../embedded/Tables.ts"
import * as Columns from "../Columns.ts"
import type { Row } from "../Connections.ts"
import { each, found } from "./Fences.ts"
import { KeyedRows } from "./KeyedRows.ts"
import { type Load, type Part, type Write, writing } from "./Load.ts"
import type { Run } from "./Run.ts"

const keyFields: ReadonlyArray<Columns.Column<string>> = [{ name: "key", type: "text", of: (key) => key }]

const fields: ReadonlyArray<Columns.Column<ReceiptRow>> = [
  { name: "key", type: "text", of: ({ key }) => key },
  { name: "body", type: "text", of: ({ body }) => body },
  { name: "answer", type: "text", of: ({ answer }) => answer },
  { name: "expires_at", type: "float8", of: ({ expiresAt }) => expiresAt }
]

const find = `
  select r.key, r.body, r.answer, r.expires_at from ${Columns.rows(keyFields, "w", 2)}
  ${each("receipt", "key = w.key", "r")}`

const put = (first: number): string => `
  insert into receipt (store, ${Columns.names(fields)})
  select $1, ${Columns.values(fields, "r")} from ${Columns.rows(fields, "r", first)}
  on conflict (store, key) do update
  set body = excluded.body, answer = excluded.answer, expires_at = excluded.expires_at`

const remove = (first: number): string => `
  delete from receipt t using ${Columns.rows(keyFields, "r", first)} ${found("receipt", "key = r.key")}
  where t.ctid = f.at`

const decode = (row: Row): ReceiptRow => {
  const [key, body, answer, expiresAt] = row as readonly [string, string, string, number]
  return { key, body, answer, expiresAt }
}

/** See `ReceiptTable`. */
export class UnitReceipts implements ReceiptTable, Part {
  readonly #rows: KeyedRows<string, ReceiptRow>

  constructor(run: Run) {
    this.#rows = new KeyedRows(run, (key) => key)
  }

  get(key: string): ReceiptRow | undefined {
    return this.#rows.get(key)
  }

  put(row: ReceiptRow): void {
    this.#rows.set(row.key, row)
  }

  delete(key: string): void {
    this.#rows.set(key, undefined)
  }

  expired(): never {
    throw new Error("the receipts of a PostgreSQL store are swept by a statement of their own")
  }

  loads(): ReadonlyArray<Load> {
    const keys = this.#rows.takeLacking()
    if (keys.length === 0) return []
    const receive: Load["receive"] = (rows) =>
      this.#rows.receive(
        keys,
        rows.map(decode).map((row) => [row.key, row])
      )
    return [{ sql: find, parameters: Columns.parameters(keyFields, keys), receive }]
  }

  writes(): ReadonlyArray<Write> {
    const changes = this.#rows.changes()
    return [...writing(put, fields, changes.put), ...writing(remove, keyFields, changes.deleted)]
  }
}
