/** All tables of one store, in memory. */
import type { Tables } from "../embedded/Tables.ts"
import type { MakeIndex } from "./JobSlot.ts"
import { MemoryChildren } from "./MemoryChildren.ts"
import { MemoryJobs } from "./MemoryJobs.ts"
import { MemoryDedupes, MemoryOutbox, MemoryPauses, MemoryReceipts, MemorySchedules } from "./SmallTables.ts"
import { OrderedIndex } from "./OrderedIndex.ts"

/** Empty tables. A test may give indexes that count what they look at. */
export const make = (makeIndex: MakeIndex = (compare) => new OrderedIndex(compare)): Tables => {
  const jobs = new MemoryJobs(makeIndex, (row) => children.deleteFlow(row.id))
  const children = new MemoryChildren(makeIndex, (flowId) => jobs.get(flowId)?.state === "waiting-children")
  return {
    jobs,
    attempts: jobs,
    history: jobs,
    dedupes: new MemoryDedupes(),
    pauses: new MemoryPauses(),
    schedules: new MemorySchedules(),
    children,
    outbox: new MemoryOutbox(makeIndex),
    receipts: new MemoryReceipts(makeIndex)
  }
}
