/**
 * The token of a claim that found nothing: how far the hub had come, which hub it was, and what the claim had asked for. To
 * everybody else it is an opaque string.
 */

/** What a token says. `asked` is absent when the names were too long to carry. */
export interface WakeToken {
  readonly origin: string
  readonly version: number
  readonly asked: { readonly queue: string; readonly names: ReadonlyArray<string> } | undefined
}

// Far below the limit of an opaque string, also when every unit takes six characters as an escape.
const longestAsked = 512

/** The token as a string. */
export const format = (origin: string, version: number, queue: string, names: ReadonlyArray<string>): string => {
  const head = `${origin}.${version.toString(36)}.`
  let length = queue.length
  for (const name of names) length += name.length + 3
  return length > longestAsked ? head : head + JSON.stringify([queue, ...names])
}

/** Reads a token, or gives `undefined` when it is none. */
export const parse = (text: string): WakeToken | undefined => {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, origin = "", version = "", asked = ""] = match
  return { origin, version: Number.parseInt(version, 36), asked: parseAsked(asked) }
}

const pattern = /^([^.]+)\.([0-9a-z]+)\.(.*)$/s

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
