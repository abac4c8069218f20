/** Which dependency rows are loaded, and the statements that load more. */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import type { FlowChildStatus } from "@jobwire/protocol"
import type { ChildRow } from "../../../core/JobRow.ts"
import { compareText } from "../../../core/Order.ts"
import { childStatuses } from "../../columns/Codes.ts"
import * as Columns from "../Columns.ts"
import type { Row } from "../Connections.ts"
import { waitingChildren } from "../RowStates.ts"
import type { ChildCells } from "./ChildCells.ts"
import { childColumns, type ChildKey, decodeChild, keyFields } from "./ChildColumns.ts"
import { each } from "./Fences.ts"
import type { Load } from "./Load.ts"
import type { Run } from "./Run.ts"

const byKey = `
  select ${childColumns} from ${Columns.rows(keyFields, "w", 2)}
  ${each("child", "flow_id = w.flow_id and child_key = w.child_key", "c")}`

const byStatus = `select ${childColumns} from child c where c.store = $1 and c.flow_id = $2 and c.status = $3::int2`

const pendingSince = `
  select ${childColumns}, r.request::text from child c
  ${each("child_request", "flow_id = c.flow_id and child_key = c.child_key", "r")}
  ${each("job", "id = c.flow_id", "j", "seq")}
  ${each("live", "seq = j.seq", "l", "state")}
  where c.store = $1 and c.status = 0 and c.pending_since <= $2::float8
    and (c.pending_since, c.flow_id, c.child_key) > ($3::float8, $4::text, $5::text) and l.state = ${waitingChildren}
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

/** A place in the order of ages. */
type AgePosition = ChildKey & Pick<ChildRow, "pendingSince">

/** Behind all rows of this age or older, and before all others: no time lies between this one and the next number. */
const behind = (moment: number): AgePosition => ({ pendingSince: nextNumber(moment), flowId: "", childKey: "" })

const nextNumber = (value: number): number => {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, value)
  bits.setBigInt64(0, bits.getBigInt64(0) + (value < 0 ? -1n : 1n))
  return bits.getFloat64(0)
}

export const compareKeys = (one: ChildKey, other: ChildKey): number =>
  compareText(one.flowId, other.flowId) || compareText(one.childKey, other.childKey)

/** The order of ages. */
export const compareAges = (one: AgePosition, other: AgePosition): number =>
  one.pendingSince - other.pendingSince || compareKeys(one, other)

/** See the file. */
export class ChildLoads {
  readonly #run: Run
  readonly #cells: ChildCells
  readonly #keys = new Map<string, ChildKey>()
  readonly #loadedStatuses = new Set<string>()
  readonly #owedOfFlow = new Map<string, Reached<ChildKey>>()
  readonly #owed: Reached<ChildKey> = { row: { flowId: "", childKey: "" }, isComplete: false, limit: firstChunk }
  readonly #pending: Reached<AgePosition> = {
    row: { pendingSince: -Infinity, flowId: "", childKey: "" },
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
    const end = behind(moment)
    if (compareAges(row ?? end, reached.row) <= 0) return true
    const { limit } = reached
    this.#lack("pending", {
      sql: pendingSince,
      parameters: [moment, PgTypes.float8(reached.row.pendingSince), reached.row.flowId, reached.row.childKey, limit],
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

const advance = (reached: Reached<ChildKey>, rows: ReadonlyArray<ChildRow>, limit: number): void => {
  reached.row = rows.at(-1) ?? reached.row
  reached.isComplete = rows.length < limit
  reached.limit = Math.min(2 * limit, largestChunk)
}
