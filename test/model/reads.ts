/** Looking at jobs. */
import type { JobCounts, JobState, ListOptions } from "@jobwire/protocol"
import { Option } from "effect"
import { refuse, type Step, succeed } from "./answers.ts"
import { compareText, find, type Job, type ListCursor, recordOf } from "./state.ts"

export const getJob: Step<"getJob"> = (state, _now, [id]) =>
  succeed(state, Option.map(Option.fromUndefinedOr(find(state, id)), recordOf))

export const getAttempts: Step<"getAttempts"> = (state, _now, [id]) =>
  succeed(state, find(state, id)?.ledger.map(({ entry }) => entry) ?? [])

const states: ReadonlyArray<JobState> = [
  "waiting",
  "delayed",
  "active",
  "waiting-children",
  "completed",
  "failed",
  "cancelled"
]

export const counts: Step<"counts"> = (state, _now, [queue]) => {
  const mine = state.jobs.filter(({ record }) => queue === undefined || record.queue === queue)
  const entries = states.map((each) => [each, mine.filter(({ record }) => record.state === each).length])
  // Every state has its entry.
  return succeed(state, Object.fromEntries(entries) as JobCounts)
}

const orderOf = ({ order, orderBy }: ListOptions) => ({ order: order ?? "desc", orderBy: orderBy ?? "enqueuedAt" })

const matches = ({ record }: Job, { metadata = {}, name, queue, states }: ListOptions): boolean =>
  (queue === undefined || record.queue === queue) &&
  (name === undefined || record.name === name) &&
  (states === undefined || states.includes(record.state)) &&
  Object.entries(metadata).every(([key, value]) => record.metadata[key] === value)

export const list: Step<"list"> = (state, _now, [options], told) => {
  const { order, orderBy } = orderOf(options)
  const valueOf = ({ record }: Job): number => record[orderBy] ?? 0
  const from = state.listCursors.findLast(({ cursor }) => cursor === options.cursor)
  if (options.cursor !== undefined && (from === undefined || !isOfOrder(from, options))) {
    return refuse(state, "options.cursor")
  }
  const direction = order === "asc" ? 1 : -1
  const compare = (job: Job, value: number, id: string): number =>
    direction * (valueOf(job) - value || compareText(job.record.id, id))
  const rows = state.jobs
    .filter((job) => matches(job, options))
    // What a page has of jobs that have moved since the one before is open: here, and by keyset, what now comes behind its end.
    .filter((job) => from === undefined || compare(job, from.value, from.id) > 0)
    .toSorted((one, other) => compare(one, valueOf(other), other.record.id))
  const items = rows.slice(0, options.limit ?? 50)
  const last = items.at(-1)
  const cursor =
    rows.length === items.length || last === undefined ? undefined : (told?.cursor ?? `list-${last.record.id}`)
  return succeed(
    cursor === undefined || last === undefined
      ? state
      : {
          ...state,
          listCursors: [...state.listCursors, { cursor, options, value: valueOf(last), id: last.record.id }]
        },
    { items: items.map(recordOf), cursor }
  )
}

const isOfOrder = ({ options }: ListCursor, other: ListOptions): boolean => {
  const [one, two] = [orderOf(options), orderOf(other)]
  return one.order === two.order && one.orderBy === two.orderBy
}
