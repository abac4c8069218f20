/** All tables of a store in SQLite, over statements that are prepared once for the database. */
import type { DatabaseSync } from "node:sqlite"
import type { Tables } from "../embedded/Tables.ts"
import { prepareAttempts } from "./AttemptTable.ts"
import { prepareChildren } from "./ChildTable.ts"
import { prepareDedupes } from "./DedupeTable.ts"
import { prepareHistory } from "./HistoryTable.ts"
import { prepareJobs } from "./JobTable.ts"
import { prepareOutbox } from "./OutboxTable.ts"
import { preparePauses } from "./PauseTable.ts"
import { prepareReceipts } from "./ReceiptTable.ts"
import { prepareSchedules } from "./ScheduleTable.ts"
import type { StoreState } from "./StoreState.ts"

/** Prepares every statement; answers what makes the tables of a store. */
export const prepareTables = (db: DatabaseSync): ((store: StoreState) => Tables) => {
  const jobs = prepareJobs(db)
  const history = prepareHistory(db)
  const attempts = prepareAttempts(db)
  const dedupes = prepareDedupes(db)
  const pauses = preparePauses(db)
  const schedules = prepareSchedules(db)
  const children = prepareChildren(db)
  const outbox = prepareOutbox(db)
  const receipts = prepareReceipts(db)
  return (store) => ({
    jobs: jobs(store),
    history: history(store),
    attempts: attempts(store),
    dedupes: dedupes(store),
    pauses: pauses(store),
    schedules: schedules(store),
    children: children(store),
    outbox: outbox(store),
    receipts: receipts(store)
  })
}
