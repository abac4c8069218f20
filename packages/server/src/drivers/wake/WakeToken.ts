/**
 * The token of a claim that found nothing: how far it had seen, who keeps count of that, and what the claim had asked for. To
 * everybody else it is an opaque string.
 */
import type { Wanted } from "./Parking.ts"

/** What a token says. */
export interface WakeToken {
  /** Who gave the position its meaning: nobody else can read it. */
  readonly origin: string
  /** How far the claim had seen. */
  readonly position: string
  /** Absent when the names were too long to carry. */
  readonly asked: { readonly queue: string; readonly names: ReadonlyArray<string> } | undefined
}

// With an origin of some fifty characters and a position of 1,500 it stays below the limit of an opaque string.
const longestAsked = 2048

/** How long a position may be. */
export const longestPosition = 1500

/** The token as a string. Neither origin nor position has a dot. */
export const format = (origin: string, position: string, queue: string, names: ReadonlyArray<string>): string =>
  `${origin}.${position}.${formatAsked(queue, names)}`

/** Reads a token, or gives `undefined` when it is none. */
export const parse = (text: string): WakeToken | undefined => {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, origin = "", position = "", asked = ""] = match
  return { origin, position, asked: parseAsked(asked) }
}

/** What a wait with this token waits for: of its own queue what it had asked for; of another queue it says nothing. */
export const wantedOf = (token: WakeToken, queues: ReadonlyArray<string>): ReadonlyArray<Wanted> =>
  queues.map((queue) => ({ queue, names: token.asked?.queue === queue ? token.asked.names : undefined }))

const pattern = /^([^.]+)\.([^.]+)\.(.*)$/s

const formatAsked = (queue: string, names: ReadonlyArray<string>): string => {
  // Very many names are not even looked at.
  if (queue.length + 3 * names.length > longestAsked) return ""
  const text = JSON.stringify([queue, ...names])
  return text.length > longestAsked ? "" : text
}

const parseAsked = (text: string): WakeToken["asked"] => {
  if (text === "") return undefined
  try {
    const parts: unknown = JSON.parse(text)
    if (!Array.isArray(parts)) return undefined
    const [queue, ...names] = parts.filter((part) => typeof part === "string")
    return queue === undefined ? undefined : { queue, names }
  } catch {
    return undefined
  }
}
