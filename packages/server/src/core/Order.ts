/** The order of lists, and the cursors that say where a page ended. */
import { invalidArgument, type JobStoreError, type ListOptions } from "@jobwire/protocol"
import { Result } from "effect"
import { Base64Url } from "effect/encoding"
import type { JobRow } from "./JobRow.ts"

/** By which time jobs are listed. */
export type OrderBy = NonNullable<ListOptions["orderBy"]>

/** The direction of a list. */
export type Direction = NonNullable<ListOptions["order"]>

/** Where a page ended: the order's value of its last job, and that job's id. */
export interface Position {
  readonly value: number
  readonly id: string
}

/** The value that a job is ordered by; 0 where it has none. */
export const orderValue = (row: JobRow, orderBy: OrderBy): number => row[orderBy] ?? 0

/**
 * Compares by Unicode code points, as databases compare UTF-8. JavaScript's own `<` compares UTF-16 units, which puts
 * characters beyond U+FFFF before those from U+E000.
 */
export const compareText = (one: string, other: string): number => {
  const length = Math.min(one.length, other.length)
  for (let index = 0; index < length; index++) {
    const a = one.charCodeAt(index)
    const b = other.charCodeAt(index)
    if (a !== b) return rank(a) - rank(b)
  }
  return one.length - other.length
}

// Surrogates stand for characters beyond all that one unit can hold.
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

/** The cursor for the page behind this position. */
export const encodeCursor = (orderBy: OrderBy, order: Direction, position: Position): string =>
  Base64Url.encode(JSON.stringify([orderBy, order, position.value, position.id]))

/** The position of a cursor that this order gave. */
export const decodeCursor = (
  cursor: string,
  orderBy: OrderBy,
  order: Direction
): Result.Result<Position, JobStoreError> => {
  const parts = decode(cursor)
  if (parts?.length !== 4 || typeof parts[2] !== "number" || typeof parts[3] !== "string") return notACursor()
  if (parts[0] !== orderBy || parts[1] !== order) {
    return Result.fail(
      invalidArgument(
        "options.cursor",
        `belongs to a list by ${String(parts[0])} ${String(parts[1])}, and this one is by ${orderBy} ${order}: ` +
          "give the same options for every page"
      )
    )
  }
  return Result.succeed({ value: parts[2], id: parts[3] })
}

/** The cursor for the page behind this key of a child. */
export const encodeChildCursor = (childKey: string): string => Base64Url.encode(JSON.stringify([childKey]))

/** The key of the last child before the page. */
export const decodeChildCursor = (cursor: string): Result.Result<string, JobStoreError> => {
  const parts = decode(cursor)
  return parts?.length === 1 && typeof parts[0] === "string" ? Result.succeed(parts[0]) : notACursor()
}

const notACursor = (): Result.Result<never, JobStoreError> =>
  Result.fail(invalidArgument("options.cursor", "is not a cursor of this store: give back the one of the page before"))

const decode = (cursor: string): ReadonlyArray<unknown> | undefined => {
  const text = Base64Url.decodeString(cursor)
  if (Result.isFailure(text)) return undefined
  try {
    const parts: unknown = JSON.parse(text.success)
    return Array.isArray(parts) ? parts : undefined
  } catch {
    return undefined
  }
}
