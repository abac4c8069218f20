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

const drawnIds = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** A history in words: ids that a store drew by their order, times by their distance from the start. */
export const readable = (lines: ReadonlyArray<string>, start: number): string => {
  const drawn: Array<string> = []
  const numbered = (id: string): string => {
    if (!drawn.includes(id)) drawn.push(id)
    return `#${drawn.indexOf(id) + 1}`
  }
  const sinceStart = (time: string): string => {
    const ms = Number(time) - start
    return ms < 0 ? time : `T+${ms}`
  }
  return lines
    .filter((line) => line !== "")
    .join("\n")
    .replaceAll(drawnIds, numbered)
    .replaceAll(/\b\d{13}\b/g, sinceStart)
}
