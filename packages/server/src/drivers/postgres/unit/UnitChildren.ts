/** Dependency rows as units see them. */
import type { FlowChildStatus } from "@jobwire/protocol"
import type { ChildRow } from "../../../core/JobRow.ts"
import { inChunks } from "../../embedded/Chunks.ts"
import type { ChildTable } from "../../embedded/Tables.ts"
import * as Columns from "../Columns.ts"
import type { Row } from "../Connections.ts"
import type { Asked } from "./Asked.ts"
import { type ChildCell, ChildCells } from "./ChildCells.ts"
import * as ChildColumns from "./ChildColumns.ts"
import { ChildLoads, compareAges, compareKeys } from "./ChildLoads.ts"
import { found } from "./Fences.ts"
import { type Load, type Part, type Write, writing } from "./Load.ts"
import type { Run } from "./Run.ts"

const chunk = `
  select ${ChildColumns.childColumns} from child c
  where c.store = $1 and c.flow_id = $2 and c.child_key > $3::text order by c.child_key limit $4::int4`

const insertRows = (first: number): string => `
  insert into child (store, ${Columns.names(ChildColumns.childFields)})
  select $1, ${Columns.values(ChildColumns.childFields, "r")} from ${Columns.rows(ChildColumns.childFields, "r", first)}`

const insertRequests = (first: number): string => `
  insert into child_request (store, ${Columns.names(ChildColumns.requestFields)})
  select $1, ${Columns.values(ChildColumns.requestFields, "r")} from ${Columns.rows(ChildColumns.requestFields, "r", first)}`

const update = (first: number): string => `
  update child t set ${Columns.assignments(ChildColumns.changing, "r")}
  from ${Columns.rows(ChildColumns.updateFields, "r", first)}
  ${found("child", "flow_id = r.flow_id and child_key = r.child_key")} where t.ctid = f.at`

const flowFields: ReadonlyArray<Columns.Column<string>> = [{ name: "flow_id", type: "text", of: (flowId) => flowId }]

const deleteFrom =
  (table: "child" | "child_request") =>
  (first: number): string =>
    `delete from ${table} t using ${Columns.rows(flowFields, "r", first)} ${found(table, "flow_id = r.flow_id")}
     where t.ctid = f.at`

const isOwed = (row: ChildRow | undefined): row is ChildRow => row?.status === "cancelled" && !row.cascaded

const currentOf = ({ current }: ChildCell): ReadonlyArray<ChildRow> => (current === undefined ? [] : [current])

/** See `ChildTable`. `isWaiting` says whether a job waits for its children, or that it is not loaded. */
export class UnitChildren implements ChildTable, Part {
  readonly #cells: ChildCells
  readonly #loaded: ChildLoads
  readonly #asked: Asked
  readonly #isWaiting: (flowId: string) => boolean | undefined

  constructor(run: Run, asked: Asked, isWaiting: (flowId: string) => boolean | undefined) {
    this.#cells = new ChildCells(run)
    this.#loaded = new ChildLoads(run, this.#cells)
    this.#asked = asked
    this.#isWaiting = isWaiting
  }

  get(flowId: string, childKey: string): ChildRow | undefined {
    const cell = this.#cells.find({ flowId, childKey })
    if (cell === undefined && !this.#cells.deletedFlows.has(flowId)) this.#loaded.lackKey({ flowId, childKey })
    return cell?.current
  }

  insert(rows: ReadonlyArray<ChildRow>): void {
    for (const row of rows) this.#cells.insert(row)
  }

  update(before: ChildRow, after: ChildRow): void {
    const cell = this.#cells.find(before)
    if (cell === undefined) {
      throw new Error(`child ${JSON.stringify(before.childKey)} of flow ${JSON.stringify(before.flowId)} is not there`)
    }
    this.#cells.update(cell, after)
  }

  /** Deletes all rows of a flow. */
  deleteFlow(flowId: string): void {
    this.#cells.deleteFlow(flowId)
  }

  *list(flowId: string, after: string | undefined): Generator<ChildRow, void> {
    const rows = inChunks<Row>((last, limit) => this.#asked.rows(chunk, [flowId, last?.[1] ?? after ?? "", limit]))
    for (const row of rows) yield ChildColumns.decodeChild(row)
  }

  withStatus(flowId: string, status: FlowChildStatus): ReadonlyArray<ChildRow> {
    if (!this.#loaded.hasStatus(flowId, status)) return []
    return Array.from(this.#cells.ofFlow(flowId))
      .flatMap(currentOf)
      .filter((row) => row.status === status)
      .toSorted(compareKeys)
  }

  *pendingSince(moment: number): Generator<ChildRow, void> {
    const cells = Array.from(this.#cells.all()).filter((cell) => this.#isAwaited(cell))
    const rows = cells.flatMap(currentOf).filter((row) => row.status === "pending" && row.pendingSince <= moment)
    for (const row of rows.toSorted(compareAges)) {
      if (!this.#loaded.hasPendingUpTo(row, moment)) return
      yield row
    }
    this.#loaded.hasPendingUpTo(undefined, moment)
  }

  *owedCascade(): Generator<ChildRow, void> {
    const rows = Array.from(this.#cells.all()).flatMap(currentOf).filter(isOwed)
    for (const row of rows.toSorted(compareKeys)) {
      if (!this.#loaded.hasOwedUpTo(row)) return
      yield row
    }
    this.#loaded.hasOwedUpTo(undefined)
  }

  owesCascade(flowId: string): boolean {
    for (const { current } of this.#cells.ofFlow(flowId)) if (isOwed(current)) return true
    this.#loaded.hasOwedOfFlow(flowId)
    return false
  }

  loads(): ReadonlyArray<Load> {
    return this.#loaded.loads()
  }

  clears(): ReadonlyArray<Write> {
    const flows = Array.from(this.#cells.deletedFlows)
    return [
      ...writing(deleteFrom("child"), flowFields, flows),
      ...writing(deleteFrom("child_request"), flowFields, flows)
    ]
  }

  writes(): ReadonlyArray<Write> {
    const inserted: Array<ChildRow> = []
    const updated: Array<ChildRow> = []
    for (const { current, stored } of this.#cells.all()) {
      if (current === undefined || current === stored) continue
      if (stored === undefined) inserted.push(current)
      else updated.push(current)
    }
    return [
      ...writing(insertRows, ChildColumns.childFields, inserted),
      ...writing(insertRequests, ChildColumns.requestFields, inserted),
      ...writing(update, ChildColumns.updateFields, updated)
    ]
  }

  // What a unit has done to the parent counts before what the database said of it.
  #isAwaited(cell: ChildCell): boolean {
    return this.#isWaiting(cell.current?.flowId ?? "") ?? cell.isAwaited
  }
}
