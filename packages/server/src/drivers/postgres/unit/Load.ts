/** What goes to the database and back while units run: loads of what was lacking, and at the end what has changed. */
import * as Columns from "../Columns.ts"
import type { Row } from "../Connections.ts"

/** A statement that loads what runs have lacked. Its first parameter is the store. */
export interface Load {
  readonly sql: string
  /** Those behind the store. */
  readonly parameters: ReadonlyArray<unknown>
  readonly receive: (rows: ReadonlyArray<Row>) => void
}

/** A statement that writes a kind of change, as part of a larger one. Its first parameter is the store. */
export interface Write {
  /** The statement, with the parameters behind the store numbered from `first`. */
  readonly sql: (first: number) => string
  readonly parameters: ReadonlyArray<unknown>
}

/** The write of these items, or none when there are no items. */
export const writing = <Item>(
  sql: (first: number) => string,
  fields: ReadonlyArray<Columns.Column<Item>>,
  items: ReadonlyArray<Item>
): ReadonlyArray<Write> => (items.length === 0 ? [] : [{ sql, parameters: Columns.parameters(fields, items) }])

/** Whether units may write. Those that may lock what they load. */
export type Mode = "write" | "read"

/** A part of the tables of a transaction. */
export interface Part {
  /** Loads of what was lacking since it was last asked. */
  readonly loads: () => ReadonlyArray<Load>
  /** Writes of what units have changed. */
  readonly writes: () => ReadonlyArray<Write>
}
