/** Which dependency rows are loaded, and the statements that load more. */
import type { FlowChildStatus } from "@jobwire/protocol"
import type { ChildRow } from "../../../core/JobRow.ts"
import { compareText } from "../../../core/Order.ts"
import { childStatuses } from "../../columns/Codes.ts"
import * as Columns from "../Columns.ts"
import type { Row } from "../Connections.ts"
import type { ChildCells } from "./ChildCells.ts"
import { childColumns, type ChildKey, decodeChild, keyFields } from "./ChildColumns.ts"
import type { Load } from "./Load.ts"
import type { Run } from "./Run.ts"

const byKey = `
  select ${childColumns} from ${Columns.rows(keyFields, "w", 2)}
  join child c on c.store = $1 and c.flow_id = w.flow_id and c.child_key = w.child_key`

const byStatus = `select ${childColumns} from child c where c.store = $1 and c.flow_id = $2 and c.status = $3::int2`

// From behind a row, or from behind all rows of a moment where that has no flow.
const pendingSince = `
  select ${childColumns}, r.request::text from child c
  join child_request r on r.store = c.store and r.flow_id = c.flow_id and r.child_key = c.child_key
  join job j on j.store = c.store and j.id = c.flow_id
  join live l on l.store = j.store and l.seq = j.seq and l.state = 3
  where c.store = $1 and c.status = 0 and c.pending_since <= $2::float8 and c.pending_since >= $3::float8
    and (c.pending_since > $3::float8 or (c.flow_id, c.child_key) > ($4::text, $5::text))
  order by c.pending_since, c.flow_id, c.child_key limit $6::int4`

const owed = `
  select ${childColumns} from child c
  where c.store = $1 and c.status = 3 and not c.cascaded and (c.flow_id, c.child_key) > ($2::text, $3::text)
  order by c.flow_id, c.child_key limit $4::int4`

const owedOfFlow = `
  select ${childColumns} from child c
  where c.store = $1 and c.flow_id = $2 and c.status = 3 and not c.cascaded and c.child_key > $3::text
  order by c.child_key limit $4::int4`

const firstChunk = 64
const largestChunk = 1024

/** How far a walk is loaded: everything up to this row. */
interface Reached<Row> {
  row: Row
  /** Whether there is nothing behind it. */
  isComplete: boolean
  limit: number
}

/** A row in the order of ages; without a flow it stands behind all rows of its moment. */
type AgePosition = Pick<ChildRow, "pendingSince" | "childKey"> & { readonly flowId: string | undefined }

export const compareKeys = (one: ChildKey, other: ChildKey): number =>
  compareText(one.flowId, other.flowId) || compareText(one.childKey, other.childKey)

const isWithinAge = (row: ChildRow, { childKey, flowId, pendingSince }: AgePosition): boolean =>
  row.pendingSince < pendingSince ||
  (row.pendingSince === pendingSince && (flowId === undefined || compareKeys(row, { flowId, childKey }) <= 0))

/** See the file. */
export class ChildLoads {
  readonly #run: Run
  readonly #cells: ChildCells
  readonly #keys = new Map<string, ChildKey>()
  readonly #loadedStatuses = new Set<string>()
  readonly #owedOfFlow = new Map<string, Reached<ChildKey>>()
  readonly #owed: Reached<ChildKey> = { row: { flowId: "", childKey: "" }, isComplete: false, limit: firstChunk }
  readonly #pending: Reached<AgePosition> = {
    row: { pendingSince: -Infinity, flowId: undefined, childKey: "" },
    isComplete: false,
    limit: firstChunk
  }
  #open: Array<Load> = []
  readonly #opened = new Set<string>()

  constructor(run: Run, cells: ChildCells) {
    this.#run = run
    this.#cells = cells
  }

  /** Says that a row is wanted that is not loaded. */
  lackKey(key: ChildKey): void {
    this.#run.lack()
    this.#keys.set(JSON.stringify([key.flowId, key.childKey]), key)
  }

  /** Whether all rows of the flow with this status are loaded; otherwise they are lacking. */
  hasStatus(flowId: string, status: FlowChildStatus): boolean {
    const text = JSON.stringify([flowId, status])
    if (this.#loadedStatuses.has(text) || this.#cells.deletedFlows.has(flowId)) return true
    this.#lack(`status ${text}`, {
      sql: byStatus,
      parameters: [flowId, childStatuses.code(status)],
      receive: (rows) => {
        this.#receive(rows)
        this.#loadedStatuses.add(text)
      }
    })
    return false
  }

  /** Whether all rows that are owed a cascade are loaded up to this one, or all there are; otherwise more are lacking. */
  hasOwedUpTo(row: ChildKey | undefined): boolean {
    const reached = this.#owed
    if (reached.isComplete || (row !== undefined && compareKeys(row, reached.row) <= 0)) return true
    const { limit } = reached
    this.#lack("owed", {
      sql: owed,
      parameters: [reached.row.flowId, reached.row.childKey, limit],
      receive: (rows) => advance(reached, this.#receive(rows), limit)
    })
    return false
  }

  /** Whether all rows of the flow that are owed a cascade are loaded; otherwise more are lacking. */
  hasOwedOfFlow(flowId: string): boolean {
    if (this.#cells.deletedFlows.has(flowId)) return true
    const reached = this.#owedOfFlow.get(flowId) ?? { row: { flowId, childKey: "" }, isComplete: false, limit: 1 }
    this.#owedOfFlow.set(flowId, reached)
    if (reached.isComplete) return true
    const { limit } = reached
    this.#lack(`owed ${flowId}`, {
      sql: owedOfFlow,
      parameters: [flowId, reached.row.childKey, limit],
      receive: (rows) => advance(reached, this.#receive(rows), limit)
    })
    return false
  }

  /** Whether all pending rows are loaded up to this one, or all of this age; otherwise more are lacking. */
  hasPendingUpTo(row: ChildRow | undefined, moment: number): boolean {
    const reached = this.#pending
    const end: AgePosition = { pendingSince: moment, flowId: undefined, childKey: "" }
    const isReached =
      row === undefined
        ? reached.row.pendingSince > moment || isSameAge(reached.row, end)
        : isWithinAge(row, reached.row)
    if (isReached) return true
    const { limit } = reached
    this.#lack("pending", {
      sql: pendingSince,
      parameters: [moment, reached.row.pendingSince, reached.row.flowId ?? null, reached.row.childKey, limit],
      receive: (rows) => {
        const children = rows.map(decodeChild)
        for (const child of children) this.#cells.receive(child, true, true)
        reached.row = children.length < limit ? end : (children.at(-1) ?? end)
        reached.limit = Math.min(2 * limit, largestChunk)
      }
    })
    return false
  }

  loads(): ReadonlyArray<Load> {
    const loads = this.#open
    this.#open = []
    this.#opened.clear()
    const keys = Array.from(this.#keys.values())
    this.#keys.clear()
    if (keys.length === 0) return loads
    const receive = (rows: ReadonlyArray<Row>): void => {
      this.#receive(rows)
      for (const key of keys) this.#cells.receiveAbsent(key)
    }
    return [...loads, { sql: byKey, parameters: Columns.parameters(keyFields, keys), receive }]
  }

  #lack(text: string, load: Load): void {
    this.#run.lack()
    if (this.#opened.has(text)) return
    this.#opened.add(text)
    this.#open.push(load)
  }

  #receive(rows: ReadonlyArray<Row>): ReadonlyArray<ChildRow> {
    const children = rows.map(decodeChild)
    for (const child of children) this.#cells.receive(child, false, false)
    return children
  }
}

const isSameAge = (one: AgePosition, other: AgePosition): boolean =>
  one.pendingSince === other.pendingSince && one.flowId === undefined && other.flowId === undefined

const advance = (reached: Reached<ChildKey>, rows: ReadonlyArray<ChildRow>, limit: number): void => {
  reached.row = rows.at(-1) ?? reached.row
  reached.isComplete = rows.length < limit
  reached.limit = Math.min(2 * limit, largestChunk)
}
