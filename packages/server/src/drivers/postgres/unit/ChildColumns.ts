/** Dependency rows as columns, and back. The request of a child never changes and may be large, so it is read where it is wanted. */
import type { ChildRow } from "../../../core/JobRow.ts"
import { childStatuses } from "../../columns/Codes.ts"
import type { Column } from "../Columns.ts"
import type { Row } from "../Connections.ts"

type ChildTuple = readonly [
  flowId: string,
  childKey: string,
  status: number,
  cascaded: boolean,
  pendingSince: number,
  storeKey: string,
  name: string,
  childJobId: string,
  failedReason: string | null,
  exit: string | null,
  request: string | null
]

/** A row of `child c`, for {@link decodeChild}, without the request. */
export const childColumns =
  "c.flow_id, c.child_key, c.status, c.cascaded, c.pending_since, c.store_key, c.name, c.child_job_id, c.failed_reason, c.exit::text"

/** The row in what {@link childColumns} and, behind it, perhaps `request::text` give. */
export const decodeChild = (row: Row): ChildRow => {
  // What the columns are is said by the SQL above.
  const tuple = row as unknown as ChildTuple
  return {
    flowId: tuple[0],
    childKey: tuple[1],
    status: childStatuses.word(tuple[2]),
    cascaded: tuple[3],
    pendingSince: tuple[4],
    storeKey: tuple[5],
    name: tuple[6],
    childJobId: tuple[7],
    failedReason: tuple[8] ?? undefined,
    exit: tuple[9] ?? undefined,
    request: tuple[10] ?? ""
  }
}

/** The key of a row. */
export interface ChildKey {
  readonly flowId: string
  readonly childKey: string
}

export const keyFields: ReadonlyArray<Column<ChildKey>> = [
  { name: "flow_id", type: "text", of: (row) => row.flowId },
  { name: "child_key", type: "text", of: (row) => row.childKey }
]

const progressFields: ReadonlyArray<Column<ChildRow>> = [
  { name: "status", type: "int2", of: (row) => childStatuses.code(row.status) },
  { name: "cascaded", type: "bool", of: (row) => row.cascaded },
  { name: "pending_since", type: "float8", of: (row) => row.pendingSince },
  { name: "failed_reason", type: "text", of: (row) => row.failedReason },
  { name: "exit", type: "json", of: (row) => row.exit }
]

/** The key and what changes. */
export const updateFields: ReadonlyArray<Column<ChildRow>> = [...keyFields, ...progressFields]

/** The columns that change. */
export const changing = progressFields

/** All columns but the store. */
export const childFields: ReadonlyArray<Column<ChildRow>> = [
  ...updateFields,
  { name: "store_key", type: "text", of: (row) => row.storeKey },
  { name: "name", type: "text", of: (row) => row.name },
  { name: "child_job_id", type: "text", of: (row) => row.childJobId }
]

export const requestFields: ReadonlyArray<Column<ChildRow>> = [
  ...keyFields,
  { name: "request", type: "json", of: (row) => row.request }
]
