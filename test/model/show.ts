/** Calls and answers in words, for the report of a difference. */
import { EnqueueRequest } from "@jobwire/protocol"
import { inspect, isDeepStrictEqual } from "node:util"
import type { Answer, Call } from "./answers.ts"
import { plain } from "./compare.ts"

const defaults: Readonly<Record<string, unknown>> = EnqueueRequest.make({ name: "", queue: "" })

// What a request says anyway is left out.
const short = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(short)
  if (typeof value !== "object" || value === null) return value
  const isRequest = "attemptsMax" in value && !("state" in value)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, each]) => !isRequest || !isDeepStrictEqual(each, defaults[key]))
      .map(([key, each]) => [key, short(each)])
  )
}

const text = (value: unknown): string =>
  inspect(short(plain(value)), { depth: 12, breakLength: Infinity, compact: true, maxArrayLength: 50 })

/** A call. */
export const showCall = ({ args, name }: Call): string => `${name}(${args.map(text).join(", ")})`

/** An answer. */
export const showAnswer = (answer: Answer<unknown>): string =>
  answer._tag === "Success" ? text(answer.value) : `fails: ${text(answer.error)}`
