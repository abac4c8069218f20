/**
 * How a page of a list is found. Each way is quick where the other is slow: a walk along the index of the order stops when the page is
 * full, and is good when many rows match; gathering takes every row that matches, sorts, and is good when few do.
 */
import type { JobCounts, JobState } from "@jobwire/protocol"
import { JobState as JobStates } from "@jobwire/protocol"
import type { JobQuery } from "../../embedded/Tables.ts"

/**
 * `walk`: along `job_enqueued`. `finished`: along `done_finished`, lane by lane. `gather`: every row that matches.
 */
export type ListPlan = "walk" | "finished" | "gather"

/** How many jobs of these counts are in the query's states. */
export const matching = (counts: JobCounts, states: ReadonlyArray<JobState> = JobStates.literals): number =>
  states.reduce((sum, state) => sum + counts[state], 0)

const isFinished = (state: JobState): boolean => state === "completed" || state === "failed" || state === "cancelled"

/** Whether the order is one of finished jobs, and so has an index by lane. */
export const isOfFinished = ({ orderBy, states }: JobQuery): boolean =>
  orderBy === "finishedAt" && states !== undefined && states.every(isFinished)

/**
 * The way for a page of this length, when so many jobs match, of so many in the store. A walk reads about `length * all / matches`
 * rows, gathering reads `matches`.
 */
export const choose = (query: JobQuery, length: number, matches: number, all: number): ListPlan => {
  if (matches * matches <= length * all || matches <= length) return "gather"
  if (isOfFinished(query)) return "finished"
  return query.orderBy === "enqueuedAt" ? "walk" : "gather"
}
