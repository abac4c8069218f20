/** Dependency rows by flow and child key. The request of a child is kept beside its row, which changes. */
import type { DatabaseSync } from "node:sqlite"
import type { ChildRow } from "../../core/JobRow.ts"
import type { ChildTable } from "../embedded/Tables.ts"
import { inChunks } from "../embedded/Chunks.ts"
import { childStatuses } from "../columns/Codes.ts"
import { prepare, type Statement } from "./Statement.ts"
import type { StoreState } from "./StoreState.ts"

type ChildTuple = [
  flowId: string,
  childKey: string,
  status: number,
  cascaded: number,
  pendingSince: number,
  storeKey: string,
  name: string,
  childJobId: string,
  failedReason: string | null,
  exit: string | null,
  request: string
]

const selectFrom = (child: string): string => `
  select c.flow_id, c.child_key, c.status, c.cascaded, c.pending_since, c.store_key, c.name, c.child_job_id,
    c.failed_reason, c.exit, r.request
  from ${child} join child_request r on r.store = c.store and r.flow_id = c.flow_id and r.child_key = c.child_key`

const selectChild = selectFrom("child c")

/** The statements that find rows; exported for the test that reads their plans. */
export const findChildren = {
  get: `${selectChild} where c.store = ? and c.flow_id = ? and c.child_key = ?`,
  list: `${selectChild} where c.store = ? and c.flow_id = ? and c.child_key > ? order by c.child_key limit ?`,
  withStatus: `${selectChild} where c.store = ? and c.flow_id = ? and c.status = ? order by c.child_key`,
  pendingSince: `${selectChild}
    join status s on s.store = c.store and s.id = c.flow_id and s.state = 3
    where c.store = ? and c.status = 0 and c.pending_since <= ?
      and (c.pending_since, c.flow_id, c.child_key) > (?, ?, ?)
    order by c.pending_since, c.flow_id, c.child_key limit ?`,
  // Without the hint the planner walks all rows by their key, in the same order.
  owedCascade: `${selectFrom("child c indexed by child_owed")}
    where c.store = ? and c.status = 3 and c.cascaded = 0 and (c.flow_id, c.child_key) > (?, ?)
    order by c.flow_id, c.child_key limit ?`,
  owesCascade: "select 1 from child where store = ? and flow_id = ? and status = 3 and cascaded = 0 limit 1"
} as const

const decode = (tuple: ChildTuple): ChildRow => ({
  flowId: tuple[0],
  childKey: tuple[1],
  status: childStatuses.word(tuple[2]),
  cascaded: tuple[3] === 1,
  pendingSince: tuple[4],
  storeKey: tuple[5],
  name: tuple[6],
  childJobId: tuple[7],
  failedReason: tuple[8] ?? undefined,
  exit: tuple[9] ?? undefined,
  request: tuple[10]
})

interface ChildSql {
  readonly get: Statement<ChildTuple>
  readonly list: Statement<ChildTuple>
  readonly withStatus: Statement<ChildTuple>
  readonly pendingSince: Statement<ChildTuple>
  readonly owedCascade: Statement<ChildTuple>
  readonly owesCascade: Statement<[number]>
  readonly insertRow: Statement
  readonly insertRequest: Statement
  readonly update: Statement
}

const prepareChildSql = (db: DatabaseSync): ChildSql => ({
  get: prepare(db, findChildren.get),
  list: prepare(db, findChildren.list),
  withStatus: prepare(db, findChildren.withStatus),
  pendingSince: prepare(db, findChildren.pendingSince),
  owedCascade: prepare(db, findChildren.owedCascade),
  owesCascade: prepare(db, findChildren.owesCascade),
  insertRow: prepare(
    db,
    `insert into child (store, flow_id, child_key, status, cascaded, pending_since, store_key, name, child_job_id,
       failed_reason, exit)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  ),
  insertRequest: prepare(db, "insert into child_request (store, flow_id, child_key, request) values (?, ?, ?, ?)"),
  update: prepare(
    db,
    `update child set status = ?4, cascaded = ?5, pending_since = ?6, failed_reason = ?7, exit = ?8
     where store = ?1 and flow_id = ?2 and child_key = ?3`
  )
})

/** Prepares the statements once; answers what makes the table of a store. */
export const prepareChildren = (db: DatabaseSync): ((store: StoreState) => ChildTable) => {
  const sql = prepareChildSql(db)
  return (store) => ({
    get: (flowId, childKey) => {
      const tuple = sql.get.get(store.id, flowId, childKey)
      return tuple === undefined ? undefined : decode(tuple)
    },
    insert: (rows) => {
      for (const row of rows) insertChild(sql, store, row)
    },
    update: (_before, after) => {
      sql.update.run(store.id, after.flowId, after.childKey, ...encodeProgress(after))
    },
    list: (flowId, after) => decoded((last, limit) => sql.list.all(store.id, flowId, last?.[1] ?? after ?? "", limit)),
    withStatus: (flowId, status) => sql.withStatus.all(store.id, flowId, childStatuses.code(status)).map(decode),
    pendingSince: (moment) =>
      decoded((last, limit) =>
        sql.pendingSince.all(store.id, moment, last?.[4] ?? -Number.MAX_VALUE, last?.[0] ?? "", last?.[1] ?? "", limit)
      ),
    owedCascade: () => decoded((last, limit) => sql.owedCascade.all(store.id, last?.[0] ?? "", last?.[1] ?? "", limit)),
    owesCascade: (flowId) => sql.owesCascade.get(store.id, flowId) !== undefined
  })
}

const encodeProgress = (row: ChildRow) =>
  [
    childStatuses.code(row.status),
    row.cascaded ? 1 : 0,
    row.pendingSince,
    row.failedReason ?? null,
    row.exit ?? null
  ] as const

const insertChild = (sql: ChildSql, store: StoreState, row: ChildRow): void => {
  const [status, cascaded, pendingSince, failedReason, exit] = encodeProgress(row)
  sql.insertRow.run(
    store.id,
    row.flowId,
    row.childKey,
    status,
    cascaded,
    pendingSince,
    row.storeKey,
    row.name,
    row.childJobId,
    failedReason,
    exit
  )
  sql.insertRequest.run(store.id, row.flowId, row.childKey, row.request)
}

function* decoded(
  read: (last: ChildTuple | undefined, limit: number) => ReadonlyArray<ChildTuple>
): Generator<ChildRow, void> {
  for (const tuple of inChunks(read)) yield decode(tuple)
}
