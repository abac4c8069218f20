/** Retry delays and retention as flags: `--backoff exponential:1s:3`, `--keep-completed 100,7d`. */
import type { BackoffPolicy, KeepRule } from "@jobwire/protocol"
import { Flag } from "effect/cli"
import { parseDuration } from "./Duration.ts"

const backoffForm = "10s, fixed:10s, exponential:1s or exponential:1s:3 (delay, then the factor, 2 unless given)"

/** The policy of a text such as `10s` or `exponential:1s:3`. Throws when it is none. */
export const parseBackoff = (text: string): BackoffPolicy => {
  const parts = text.split(":")
  const [kind, delay = "", factor] = parts.length === 1 ? ["fixed", text] : parts
  const delayMs = parseDuration(delay)
  if (kind === "fixed" && factor === undefined) return { _tag: "fixed", delayMs, factor: undefined }
  if (kind !== "exponential" || parts.length > 3) throw new Error(backoffForm)
  if (factor === undefined) return { _tag: "exponential", delayMs, factor: undefined }
  if (!/^\d+(\.\d+)?$/.test(factor)) throw new Error(backoffForm)
  return { _tag: "exponential", delayMs, factor: Number(factor) }
}

/** A policy as {@link parseBackoff} takes it. */
export const formatBackoff = (policy: BackoffPolicy, duration: (ms: number) => string): string =>
  policy._tag === "fixed"
    ? duration(policy.delayMs)
    : `exponential:${duration(policy.delayMs)}${policy.factor === undefined ? "" : `:${policy.factor}`}`

const keepForm = "a count, an age, or both, such as 100, 7d or 100,7d"

/** The rule of a text such as `100`, `7d` or `100,7d`. Throws when it is none. */
export const parseKeep = (text: string): KeepRule => {
  let count: number | undefined
  let ageMs: number | undefined
  for (const part of text.split(",")) {
    if (/^\d+$/.test(part)) {
      if (count !== undefined) throw new Error(keepForm)
      count = Number(part)
    } else {
      if (ageMs !== undefined) throw new Error(keepForm)
      ageMs = parseDuration(part)
    }
  }
  return { count, ageMs }
}

/** A flag that takes a backoff policy. */
export const backoffFlag = (name: string): Flag.Flag<BackoffPolicy> =>
  Flag.String(name).pipe(
    Flag.withMetavar("policy"),
    Flag.mapTryCatch(parseBackoff, () => backoffForm)
  )

/** A flag that takes a retention rule. */
export const keepFlag = (name: string): Flag.Flag<KeepRule> =>
  Flag.String(name).pipe(
    Flag.withMetavar("rule"),
    Flag.mapTryCatch(parseKeep, () => keepForm)
  )
