/** Answers beside each other: what the contract leaves open is evened out first. */
import type { OperationName } from "@jobwire/protocol"
import { Cause, Exit, Option } from "effect"
import { inspect, isDeepStrictEqual } from "node:util"
import type { Answer, Problem } from "./answers.ts"
import { compareText } from "./state.ts"

type Plain = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Plain => typeof value === "object" && value !== null

// Of an error the contract fixes the tag and what it is about, not its words.
const plainError = (error: Plain): Plain => {
  const { _tag, jobId, reason, state } = error
  return isObject(reason) ? { _tag, reason: { _tag: reason["_tag"], field: reason["field"] } } : { _tag, jobId, state }
}

/** A value as plain data, without fields that are absent. */
export const plain = (value: unknown): unknown => {
  if (!isObject(value)) return value
  if (Array.isArray(value)) return value.map(plain)
  if (Option.isOption(value)) return plain(Option.getOrNull(value))
  const fields: Plain = value instanceof Error ? plainError({ ...value, _tag: tagOf(value) }) : value
  const found: Record<string, unknown> = {}
  for (const key of Object.keys(fields)) {
    const each = fields[key]
    if (each !== undefined) found[key] = key === "failedReason" ? reason(each) : plain(each)
  }
  return found
}

// The class has the tag; of the error's own fields it need not be one.
const tagOf = (error: Error): unknown => ("_tag" in error ? error._tag : error.name)

// What a store says around the child's key is its own affair.
const reason = (text: unknown): unknown =>
  typeof text === "string" ? (/"[^"]*" failed/.exec(text)?.[0] ?? text) : text

/** The answer of a store as data. */
export const answerOf = (exit: Exit.Exit<unknown, unknown>): Answer<unknown> => {
  if (Exit.isSuccess(exit)) return { _tag: "Success", value: exit.value }
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (error === undefined) return { _tag: "Failure", error: defect(Cause.pretty(exit.cause)) }
  // An error of the contract, or something else, which then shows as a difference.
  return { _tag: "Failure", error: plain(error) as Problem }
}

const defect = (text: string): Problem => ({
  _tag: "JobStoreError",
  reason: { _tag: `no error of the contract: ${text}` }
})

const sortedBy =
  (key: string) =>
  (value: unknown): unknown =>
    Array.isArray(value) ? value.toSorted((one, other) => compareText(String(one[key]), String(other[key]))) : value

const sortedRows = (value: unknown): unknown =>
  Array.isArray(value)
    ? sortedBy("flowId")(value.map((group) => ({ ...group, children: sortedBy("childKey")(group.children) })))
    : value

// Schedules that are due at one moment come in any order.
const sortedTies = (value: unknown): unknown =>
  Array.isArray(value) ? [...Map.groupBy(value, ({ nextRunAt }) => nextRunAt).values()].flatMap(sortedBy("key")) : value

/** Where the contract leaves an order open: the value in one order. */
const evened: { readonly [Name in OperationName]?: (value: unknown) => unknown } = {
  recoverStalled: sortedBy("id"),
  pausedQueues: (value) => (Array.isArray(value) ? value.toSorted() : value),
  listSchedules: sortedBy("key"),
  dueSchedules: sortedTies,
  flowSweepWork: (value) =>
    isObject(value) ? { reconcile: sortedRows(value["reconcile"]), cascade: sortedRows(value["cascade"]) } : value
}

const even = (name: OperationName, answer: Answer<unknown>): unknown => {
  if (answer._tag === "Failure") return plain(answer)
  const value = plain(answer.value)
  return { _tag: "Success", value: evened[name]?.(value) ?? value }
}

/** The first difference of two answers, as the place where it is and what is there; nothing when they are alike. */
export const differenceOf = (
  name: OperationName,
  expected: Answer<unknown>,
  actual: Answer<unknown>
): string | undefined => {
  const [one, other] = [even(name, expected), even(name, actual)]
  return isDeepStrictEqual(one, other) ? undefined : firstDifference("answer", one, other)
}

const show = (value: unknown): string => inspect(value, { depth: 12, breakLength: Infinity, compact: true })

const firstDifference = (path: string, expected: unknown, actual: unknown): string => {
  if (isObject(expected) && isObject(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const [one, other] = [expected[key], actual[key]]
      if (!isDeepStrictEqual(one, other)) return firstDifference(`${path}.${key}`, one, other)
    }
  }
  return `${path}: the model has ${show(expected)}, the store ${show(actual)}`
}
