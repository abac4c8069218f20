/** Counts of jobs by state: the tally and what is not yet folded into it, at one moment. No job is looked at. */
import type { JobCounts } from "@jobwire/protocol"
import { states } from "../../columns/Codes.ts"
import { addTo, noCounts } from "../../embedded/StateCounts.ts"
import type { Row } from "../Connections.ts"

/** The columns of `tally` and `tally_change`, in the order of the states' codes. */
export const tallyColumns = [
  "waiting",
  "delayed",
  "active",
  "waiting_children",
  "completed",
  "failed",
  "cancelled"
] as const

const columns = tallyColumns.join(", ")

const sums = (condition: string): string => `
  select ${tallyColumns.map((column) => `coalesce(sum(${column}), 0)::float8`).join(", ")} from (
    select ${columns} from tally t where t.store = $1 ${condition}
    union all
    select ${columns} from tally_change t where t.store = $1 ${condition}
  ) counted`

/** Counts of a store: `$1`. */
export const ofStore = sums("")

/** Counts of a queue: `$2` of the store `$1`. */
export const ofQueue = sums("and t.lane in (select n.lane from lane n where n.store = $1 and n.queue = $2)")

/** Counts of a queue, a name, or a name in a queue: `$2` and `$3`, null for any, of the store `$1`. */
export const ofNames = sums(`and t.lane in (
  select n.lane from lane n where n.store = $1 and n.queue = coalesce($2::text, n.queue) and n.name = coalesce($3::text, n.name)
)`)

/** The counts in the one row that the statements above give. */
export const decodeCounts = (row: Row | undefined): JobCounts => {
  const counts = noCounts()
  for (const [code, state] of states.words.entries()) addTo(counts, state, Number(row?.[code] ?? 0))
  return counts
}
