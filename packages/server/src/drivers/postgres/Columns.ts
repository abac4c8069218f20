/**
 * Lists of columns that travel as arrays: one array a column and one element a row, so that a statement takes any number of rows and
 * its text, and with it its plan, stays the same.
 */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { Result } from "effect"

/** The types of the layout. */
export type ColumnType = "bool" | "int2" | "int4" | "int8" | "float8" | "text" | "json" | "jsonb"

/** A column, and what an item puts into it; `null` and `undefined` are SQL's null. */
export interface Column<Item> {
  readonly name: string
  readonly type: ColumnType
  readonly of: (item: Item) => string | number | boolean | null | undefined
}

type Carrier = "bool" | "int2" | "int4" | "float8" | "text"

// Numbers of the layout fit a double, and values are texts already: as such they need no other form here.
const carrierOf = (type: ColumnType): Carrier => {
  switch (type) {
    case "int8":
      return "float8"
    case "json":
    case "jsonb":
      return "text"
    default:
      return type
  }
}

/** An array as a parameter. */
export const array = (values: ReadonlyArray<unknown>, type: ColumnType): PgTypes.Parameter =>
  // It fails for a type without arrays, which none of these is.
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID[carrierOf(type)]))

/** The names of the columns, for an insert. */
export const names = (columns: ReadonlyArray<Column<never>>): string => columns.map(({ name }) => name).join(", ")

/** `unnest(…) as alias(…)` over the arrays of the columns, the first of which is parameter number `first`. */
export const rows = (columns: ReadonlyArray<Column<never>>, alias: string, first = 1): string =>
  `${arraysOf(columns, first)} as ${alias}(${names(columns)})`

/** Like {@link rows}, with the position of each row, from 1, in a last column `position`. */
export const numberedRows = (columns: ReadonlyArray<Column<never>>, alias: string, first = 1): string =>
  `${arraysOf(columns, first)} with ordinality as ${alias}(${names(columns)}, position)`

const arraysOf = (columns: ReadonlyArray<Column<never>>, first: number): string =>
  `unnest(${columns.map(({ type }, index) => `$${first + index}::${carrierOf(type)}[]`).join(", ")})`

/** The value of a column in what {@link rows} gives. */
export const value = ({ name, type }: Column<never>, alias: string): string =>
  carrierOf(type) === type ? `${alias}.${name}` : `${alias}.${name}::${type}`

/** The values of the columns in what {@link rows} gives, for an insert. */
export const values = (columns: ReadonlyArray<Column<never>>, alias: string): string =>
  columns.map((column) => value(column, alias)).join(", ")

/** `name = value` of the columns, for an update. */
export const assignments = (columns: ReadonlyArray<Column<never>>, alias: string): string =>
  columns.map((column) => `${column.name} = ${value(column, alias)}`).join(", ")

/** The parameters for {@link rows}. */
export const parameters = <Item>(
  columns: ReadonlyArray<Column<Item>>,
  items: ReadonlyArray<Item>
): ReadonlyArray<PgTypes.Parameter> =>
  columns.map(({ of, type }) =>
    array(
      items.map((item) => of(item) ?? null),
      type
    )
  )
