/**
 * The small checks that validation is made of. Each takes the name of the field and its value, and answers with the error
 * to refuse the call with, or `undefined`.
 */
import { invalidArgument, type JobStoreError, limitExceeded } from "./Errors.ts"
import { byteLength, findStringProblem, inspect } from "./Json.ts"

/** The outcome of a check: the refusal, or `undefined` when the value is good. */
export type Refusal = JobStoreError | undefined

/** The first refusal of several, which are computed one after another. */
export const firstOf = (...checks: ReadonlyArray<() => Refusal>): Refusal => {
  for (const check of checks) {
    const refusal = check()
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** Passes `undefined`, else applies the check. */
export const optional = <A>(value: A | undefined, check: (value: A) => Refusal): Refusal =>
  value === undefined ? undefined : check(value)

/** A non-empty string of at most `limit` units that every database can keep. */
export const text = (field: string, value: string, limit: number): Refusal => {
  if (typeof value !== "string") return invalidArgument(field, `must be a string, and is ${describe(value)}`)
  if (value.length === 0) return invalidArgument(field, "must not be empty")
  return freeText(field, value, limit)
}

/** Like {@link text}, and may be empty. */
export const freeText = (field: string, value: string, limit: number): Refusal => {
  if (typeof value !== "string") return invalidArgument(field, `must be a string, and is ${describe(value)}`)
  if (value.length > limit) return limitExceeded(field, value.length, limit, "characters")
  const problem = findStringProblem(value)
  return problem === undefined ? undefined : invalidArgument(field, problem)
}

/** A whole number from `least` to `most`. */
export const integer = (field: string, value: number, least: number, most: number): Refusal => {
  if (!Number.isInteger(value)) return invalidArgument(field, `must be a whole number, and is ${describe(value)}`)
  return value < least || value > most
    ? invalidArgument(field, `must be from ${least} to ${most}, and is ${value}`)
    : undefined
}

/** A finite number of milliseconds, at most `limit`; `least` is 0 where a negative one makes no sense. */
export const duration = (field: string, value: number, limit: number, least = -limit): Refusal => {
  if (!Number.isFinite(value)) {
    return invalidArgument(field, `must be a finite number of milliseconds, and is ${describe(value)}`)
  }
  if (value < least) return invalidArgument(field, `must be at least ${least} ms, and is ${value}`)
  return value > limit ? limitExceeded(field, value, limit, "milliseconds") : undefined
}

// The range of JavaScript's Date, which every database's 64-bit integers hold.
const lastMoment = 8_640_000_000_000_000

/** A moment in milliseconds since 1970 that a Date can hold. */
export const moment = (field: string, value: number): Refusal =>
  Number.isFinite(value) && Math.abs(value) <= lastMoment
    ? undefined
    : invalidArgument(field, `must be milliseconds since 1970 that a Date can hold, and is ${describe(value)}`)

/** A JSON value or `undefined`, of at most `limit` bytes. */
export const json = (field: string, value: unknown, limit: number): Refusal => {
  const { bytesAtMost, problem } = inspect(value)
  if (problem !== undefined) return invalidArgument(`${field}${problem.path}`, problem.problem)
  if (bytesAtMost <= limit) return undefined
  const size = byteLength(value)
  return size > limit ? limitExceeded(field, size, limit, "bytes") : undefined
}

/** A list of at most `limit` items, each of which passes. */
export const list = <A>(
  field: string,
  items: ReadonlyArray<A>,
  limit: number,
  check: (field: string, item: A) => Refusal
): Refusal => {
  if (!Array.isArray(items)) return invalidArgument(field, `must be a list, and is ${describe(items)}`)
  if (items.length > limit) return limitExceeded(field, items.length, limit, "items")
  for (let index = 0; index < items.length; index++) {
    // The index is in range.
    const refusal = check(`${field}[${index}]`, items[index] as A)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** A value that none before it has had, by the `seen`, which it joins. `others` says whose that would be. */
export const fresh = (field: string, value: string, seen: Set<string>, others: string): Refusal => {
  if (seen.has(value)) return invalidArgument(field, `is ${JSON.stringify(value)}, as ${others} is`)
  seen.add(value)
  return undefined
}

const describe = (value: unknown): string => {
  switch (typeof value) {
    case "number":
    case "boolean":
    case "undefined":
      return String(value)
    case "string":
      return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
    default:
      return value === null ? "null" : `of type ${typeof value}`
  }
}
