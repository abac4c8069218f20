/**
 * JSON values as a store keeps them: null, booleans, finite numbers, strings, arrays and plain objects.
 *
 * A store never looks into a payload, an exit or a metadata value, but it must give back exactly what it took. So
 * everything that JSON cannot hold is refused before anything is written, and every driver and transport refuses the
 * same things. Absent (`undefined`) is allowed at the top of a value only, and differs from `null`.
 */
import { Schema } from "effect"

/** Nesting deeper than this is refused; a circular value always is. */
export const maxDepth = 256

/**
 * Schema of a JSON value or `undefined`. It does not walk the value: values that come off the wire are JSON already,
 * and those that go onto it were inspected by {@link inspect} first.
 */
// `Any` is the schema that a codec leaves alone, and that keeps those around it compiled. Its type is one that is checked.
export const JsonValue = Schema.Any.annotate({
  identifier: "JsonValue",
  description: "Any JSON value."
}) as Schema.Codec<unknown>

/** What is wrong with a value that is not JSON, and where: `path` is a JavaScript path below the value, "" for itself. */
export interface JsonProblem {
  readonly path: string
  readonly problem: string
}

/** Why a string cannot be kept by every database, or `undefined` when it can. */
export const findStringProblem = (value: string): string | undefined => {
  if (value.includes("\u0000")) return "contains a NUL character (U+0000)"
  if (!value.isWellFormed()) return "contains a lone surrogate, which is not valid Unicode"
  return undefined
}

/** What one walk over a value finds: the first problem, and a bound that its size as JSON text in bytes does not pass. */
export interface JsonInspection {
  readonly problem: JsonProblem | undefined
  readonly bytesAtMost: number
}

/** Inspects a value that may be `undefined`, which passes. */
export const inspect = (value: unknown): JsonInspection => {
  const walk: Walk = { bytesAtMost: 0 }
  const problem = value === undefined ? undefined : visit(value, "", 0, walk)
  return { problem, bytesAtMost: walk.bytesAtMost }
}

interface Walk {
  bytesAtMost: number
}

// An escaped unit takes six bytes (a \uXXXX), no unit takes more; quotes, colon and comma take four.
const stringBytesAtMost = (length: number): number => 6 * length + 4

const visit = (value: unknown, path: string, depth: number, walk: Walk): JsonProblem | undefined => {
  switch (typeof value) {
    case "string": {
      walk.bytesAtMost += stringBytesAtMost(value.length)
      const problem = findStringProblem(value)
      return problem === undefined ? undefined : { path, problem }
    }
    case "number":
      // The longest finite number in JavaScript's own notation has 24 characters.
      walk.bytesAtMost += 25
      return Number.isFinite(value) ? undefined : { path, problem: `is ${value}, which JSON cannot hold` }
    case "boolean":
      walk.bytesAtMost += 6
      return undefined
    case "object":
      walk.bytesAtMost += 6
      return value === null ? undefined : visitObject(value, path, depth, walk)
    default:
      return { path, problem: `is ${article(typeof value)}, which JSON cannot hold` }
  }
}

const visitObject = (value: object, path: string, depth: number, walk: Walk): JsonProblem | undefined => {
  if (depth >= maxDepth) return { path: "", problem: `is nested deeper than ${maxDepth} levels, or circular` }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = visit(value[index], `${path}[${index}]`, depth + 1, walk)
      if (found !== undefined) return found
    }
    return undefined
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    return { path, problem: `is ${article(value.constructor?.name ?? "class instance")}, not a plain object` }
  }
  if (Object.getOwnPropertySymbols(value).length > 0) return { path, problem: "has a symbol as a key" }
  for (const [key, item] of Object.entries(value)) {
    walk.bytesAtMost += stringBytesAtMost(key.length)
    const keyProblem = findStringProblem(key)
    if (keyProblem !== undefined) return { path, problem: `has a key that ${keyProblem}` }
    const found = visit(item, `${path}.${key}`, depth + 1, walk)
    if (found !== undefined) return found
  }
  return undefined
}

const article = (noun: string): string => {
  if (noun === "undefined") return noun
  return `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`
}

/** The length of a well-formed text in UTF-8 bytes, without encoding it. */
export const utf8Length = (text: string): number => {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    // A surrogate pair takes four bytes, two for each of its units; all else from U+0800 takes three.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return bytes
}

/** The size of an inspected value as JSON text, in UTF-8 bytes; 0 for `undefined`. */
export const byteLength = (value: unknown): number => {
  const text = JSON.stringify(value)
  return text === undefined ? 0 : utf8Length(text)
}
