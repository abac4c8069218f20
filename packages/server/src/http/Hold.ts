/**
 * How long a wait is held. A socket holds it as long as it takes. An HTTP request is held for a bounded time, as proxies cut
 * silent ones, and a client may ask for less by `Prefer: wait=SECONDS` (RFC 7240).
 */
import { Context } from "effect"

/** The hold of the current request in milliseconds; `Infinity` when nothing bounds it. */
export const CurrentHold = Context.Reference<number>("@jobwire/server/Hold", { defaultValue: () => Infinity })

// Whole seconds and nothing else: "5s", "-1", "1e3" and "" are not a number of seconds.
const waitPreference = /^wait=(?:(\d{1,9})|"(\d{1,9})")$/i

/** The seconds that a `Prefer` header asks to wait at most, or `undefined`. What cannot be read is ignored, as the RFC says. */
export const preferredSeconds = (prefer: string | undefined): number | undefined => {
  if (prefer === undefined) return undefined
  for (const preference of prefer.split(",")) {
    const [value = ""] = preference.split(";")
    const match = waitPreference.exec(value.replace(/\s*=\s*/, "=").trim())
    if (match !== null) return Number(match[1] ?? match[2])
  }
  return undefined
}

/** The shorter of the server's hold in milliseconds and what the client asks for. */
export const holdFor = (prefer: string | undefined, most: number): number =>
  Math.min(most, (preferredSeconds(prefer) ?? Infinity) * 1000)
