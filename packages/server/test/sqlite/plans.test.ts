/** No statement of the driver walks a table: each finds its rows by an index that leads with the store. */
import { assert, describe, it } from "@effect/vitest"
import { findAttempts } from "../../src/drivers/sqlite/AttemptTable.ts"
import { findChildren } from "../../src/drivers/sqlite/ChildTable.ts"
import { open } from "../../src/drivers/sqlite/Database.ts"
import { findDedupes } from "../../src/drivers/sqlite/DedupeTable.ts"
import { findHistory } from "../../src/drivers/sqlite/HistoryTable.ts"
import { findInLines } from "../../src/drivers/sqlite/JobLines.ts"
import { chunkOf } from "../../src/drivers/sqlite/JobScan.ts"
import { findJob } from "../../src/drivers/sqlite/JobTable.ts"
import { findOutbox } from "../../src/drivers/sqlite/OutboxTable.ts"
import { findReceipts } from "../../src/drivers/sqlite/ReceiptTable.ts"
import { findSchedules } from "../../src/drivers/sqlite/ScheduleTable.ts"

const db = open({ filename: ":memory:" }, 0)

const planOf = (sql: string): ReadonlyArray<string> =>
  db
    .prepare(`explain query plan ${sql}`)
    .all()
    .map((row) => String(row["detail"]))

/** The index of the first table, up to its last used column. */
const hot: ReadonlyArray<readonly [name: string, sql: string, expected: string]> = [
  ["a job by its id", findJob.byId, "status_id (store=? AND id=?)"],
  ["a job by its number", findJob.byKey, "INTEGER PRIMARY KEY (rowid=?)"],
  ["the first of a lane", findInLines.firstInLane, "COVERING INDEX status_line (store=? AND lane=?)"],
  ["the next delayed", findInLines.earliestInLane, "status_run (store=? AND lane=? AND state=?)"],
  ["delayed that are due", findInLines.due, "status_run (store=? AND lane=? AND state=? AND run_at<?)"],
  ["the job of a token", findInLines.heldBy, "status_token (store=? AND token=?)"],
  ["leases that ran out", findInLines.stalled, "status_lease (store=? AND lock_until<?)"],
  ["the oldest finished", findHistory.oldest, "COVERING INDEX status_finished (store=? AND lane=? AND state=?)"],
  ["finished until", findHistory.until, "status_finished (store=? AND lane=? AND state=? AND finished_at<?)"],
  ["the ledger", findAttempts.list, "PRIMARY KEY (store=? AND seq=?)"],
  ["the ack of a token", findAttempts.byToken, "PRIMARY KEY (store=? AND seq=?)"],
  ["a dedupe key", findDedupes.get, "PRIMARY KEY (store=? AND name=? AND key=?)"],
  ["dedupe keys", findDedupes.chunk, "PRIMARY KEY (store=? AND (name,key)>(?,?))"],
  ["a receipt", findReceipts.get, "PRIMARY KEY (store=? AND key=?)"],
  ["receipts that are over", findReceipts.expired, "COVERING INDEX receipt_expires (store=? AND expires_at<?)"],
  ["a schedule", findSchedules.get, "PRIMARY KEY (store=? AND key=?)"],
  ["schedules that are due", findSchedules.due, "schedule_due (store=? AND next_run_at<?)"],
  ["a child", findChildren.get, "PRIMARY KEY (store=? AND flow_id=? AND child_key=?)"],
  ["children of a flow", findChildren.list, "PRIMARY KEY (store=? AND flow_id=? AND child_key>?)"],
  ["children that pend", findChildren.pendingSince, "child_pending (store=? AND (pending_since,flow_id,child_key)>"],
  ["owed cascades", findChildren.owedCascade, "child_owed (store=? AND (flow_id,child_key)>(?,?))"],
  ["whether cascades are owed", findChildren.owesCascade, "COVERING INDEX child_owed (store=? AND flow_id=?)"],
  ["reports", findOutbox.chunk, "PRIMARY KEY (store=? AND seq>?)"],
  ["a list by enqueuedAt", chunkOf("enqueuedAt", "asc"), "status_enqueued (store=? AND lane=? AND state=? AND enq"],
  ["a list by runAt", chunkOf("runAt", "desc"), "status_run (store=? AND lane=? AND state=? AND run_at<?)"],
  ["a list by finishedAt", chunkOf("finishedAt", "desc"), "status_finished (store=? AND lane=? AND state=? AND fin"],
  ["a list of unfinished", chunkOf("unfinished", "asc"), "status_enqueued (store=? AND lane=? AND state=?)"]
]

describe("plans", () => {
  for (const [name, sql, expected] of hot) {
    it(`${name}: ${expected}`, () => {
      const plan = planOf(sql)
      assert.include(plan[0], expected)
      for (const step of plan) assert.isTrue(step.startsWith("SEARCH ") || step.startsWith("USE TEMP B-TREE FOR"), step)
    })
  }

  // Who runs next, who is due and who may be forgotten come out of the index in order.
  for (const sql of [findInLines.firstInLane, findInLines.earliestInLane, findHistory.oldest, findSchedules.due]) {
    it(`no sort: ${sql.trim().slice(0, 60)}…`, () => {
      assert.notInclude(planOf(sql).join("\n"), "TEMP B-TREE")
    })
  }

  it("every statement that finds rows is looked at", () => {
    const exported = [
      findAttempts,
      findChildren,
      findDedupes,
      findHistory,
      findInLines,
      findJob,
      findOutbox,
      findReceipts,
      findSchedules
    ].flatMap((group) => Object.values(group))
    const looked = new Set(hot.map(([, sql]) => sql))
    // These two read all rows of one flow, or of one store's schedules, and are meant to.
    const whole = new Set<string>([findChildren.withStatus, findSchedules.list])
    assert.deepStrictEqual(
      exported.filter((sql) => !looked.has(sql) && !whole.has(sql)),
      []
    )
  })

  it("every table and index leads with the store, or with the key that holds it", () => {
    const indexes = db
      .prepare(
        `select i.name as name, c.name as first from sqlite_schema t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
         where t.type = 'table' and t.name not in ('store', 'migration') and c.seqno = 0`
      )
      .all()
    assert.isAbove(indexes.length, 15)
    assert.deepStrictEqual(
      indexes.filter(({ first }) => first !== "store").map(({ name }) => name),
      []
    )
  })
})
