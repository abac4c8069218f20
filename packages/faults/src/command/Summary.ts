/** What a proxy has seen and done, for people. */
import type { Counts } from "../FaultLog.ts"

const listed = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ") || "nothing"

/** The counts as lines. */
export const summary = ({ hits, seen, skipped, troubles }: Counts): string =>
  [
    `seen: ${listed(seen)}`,
    `hit: ${listed(hits)}`,
    `repeats that were not done: ${skipped}; servers that could not be reached or went away: ${troubles}`
  ].join("\n")
