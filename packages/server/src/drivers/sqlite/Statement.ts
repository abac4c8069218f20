/** Prepared statements that give rows as tuples. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite"

/** A value as a column gives it. Nothing is read as a bigint or a blob. */
export type Column = string | number | null

/** A prepared statement whose rows are tuples in the order of its columns. */
export interface Statement<Row extends ReadonlyArray<Column> = []> {
  readonly get: (...parameters: ReadonlyArray<SQLInputValue>) => Row | undefined
  readonly all: (...parameters: ReadonlyArray<SQLInputValue>) => ReadonlyArray<Row>
  /** Answers how many rows were written. */
  readonly run: (...parameters: ReadonlyArray<SQLInputValue>) => { readonly changes: number | bigint }
}

/** Prepares a statement; the type says what its columns are. */
export const prepare = <Row extends ReadonlyArray<Column> = []>(db: DatabaseSync, sql: string): Statement<Row> => {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  // Rows are arrays from here on, which the types of node:sqlite do not follow; what is in them is said by the SQL.
  return statement as unknown as Statement<Row>
}
