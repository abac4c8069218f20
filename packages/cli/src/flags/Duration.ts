/** Lengths of time on the command line: `500ms`, `10s`, `5m`, `2h`, `7d`, `1h30m`. */
import { Flag } from "effect/cli"

const milliseconds: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

const part = /(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g
const whole = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/

/** What a duration flag takes, as its help and its errors say it. */
export const durationForm = "a number and a unit, such as 500ms, 10s, 5m, 2h or 7d"

/** The milliseconds of a text such as `10s` or `1h30m`; `0` needs no unit. Throws an `Error` that says what is expected. */
export const parseDuration = (text: string): number => {
  if (text === "0") return 0
  if (!whole.test(text)) throw new Error(durationForm)
  let total = 0
  for (const [, amount, unit = ""] of text.matchAll(part)) total += Number(amount) * (milliseconds[unit] ?? 0)
  return Math.ceil(total)
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000]
] as const

/** Milliseconds for people: the two biggest units that are not zero, such as `2h5m` or `1.5s`. */
export const formatDuration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)}ms`
  if (ms < 10_000 && ms % 1000 !== 0) return `${(ms / 1000).toFixed(1)}s`
  let left = Math.round(ms / 1000) * 1000
  const parts: Array<string> = []
  for (const [unit, size] of units) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
    else if (parts.length > 0) break
    if (parts.length === 2) break
  }
  return parts.join("")
}

/** A flag that takes a duration and gives milliseconds. */
export const durationFlag = (name: string): Flag.Flag<number> =>
  Flag.String(name).pipe(
    Flag.withMetavar("duration"),
    Flag.mapTryCatch(parseDuration, () => durationForm)
  )
