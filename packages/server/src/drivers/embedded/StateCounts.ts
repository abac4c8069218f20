/** Counts by state, kept while jobs come, change and go. */
import type { JobCounts, JobState } from "@jobwire/protocol"

/** Counts that are written. */
export type StateCounts = { -readonly [State in keyof JobCounts]: JobCounts[State] }

/** Zero of everything. */
export const noCounts = (): StateCounts => ({
  waiting: 0,
  delayed: 0,
  active: 0,
  "waiting-children": 0,
  completed: 0,
  failed: 0,
  cancelled: 0
})

/** Adds to the count of one state. */
export const addTo = (counts: StateCounts, state: JobState, difference: number): void => {
  counts[state] += difference
}
