/** Values that the store never looks into, as the text it keeps. They were inspected before, so they are JSON. */
import { Equal } from "effect"
import type { JsonText } from "./JobRow.ts"

/** The text of a value; absent stays absent. */
export const toText = (value: unknown): JsonText => JSON.stringify(value)

/** The value of a text: a new one at every call, so nobody shares it. */
export const fromText = (text: JsonText): unknown => (text === undefined ? undefined : JSON.parse(text))

/** Whether two texts hold the same value. The order of keys means nothing, so texts that differ may. */
export const isSame = (one: JsonText, other: JsonText): boolean =>
  one === other || Equal.equals(fromText(one), fromText(other))
