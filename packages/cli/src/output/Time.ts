/** Moments for people. */
import { formatDuration } from "../flags/Duration.ts"

/** A moment as ISO 8601 in UTC. */
export const iso = (epochMs: number): string => new Date(epochMs).toISOString()

/** A moment as seen from now: `5m ago`, `in 2h`, `now`. */
export const relative = (epochMs: number, now: number): string => {
  const distance = epochMs - now
  if (Math.abs(distance) < 1000) return "now"
  const rounded = formatDuration(Math.floor(Math.abs(distance) / 1000) * 1000)
  return distance < 0 ? `${rounded} ago` : `in ${rounded}`
}

/** Both: `2026-03-01T12:00:00.000Z (5m ago)`. */
export const moment = (epochMs: number, now: number): string => `${iso(epochMs)} (${relative(epochMs, now)})`
