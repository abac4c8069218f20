/** Dependency rows in memory. */
import type { FlowChildStatus } from "@jobwire/protocol"
import type { ChildRow } from "../../core/JobRow.ts"
import { compareText } from "../../core/Order.ts"
import type { ChildTable } from "../embedded/Tables.ts"
import type { MakeIndex } from "./JobSlot.ts"
import type { Compare, OrderedIndex } from "./OrderedIndex.ts"

interface ChildSlot {
  row: ChildRow
}

/** The children of one flow. */
interface Children {
  readonly byKey: Map<string, ChildSlot>
  readonly inOrder: OrderedIndex<ChildSlot>
  /** How many of them are cancelled and not cascaded. */
  owed: number
}

const byKey: Compare<ChildSlot> = (one, other) => compareText(one.row.childKey, other.row.childKey)

const byFlow: Compare<ChildSlot> = (one, other) => compareText(one.row.flowId, other.row.flowId) || byKey(one, other)

const byAge: Compare<ChildSlot> = (one, other) => one.row.pendingSince - other.row.pendingSince || byFlow(one, other)

const isOwed = (row: ChildRow): boolean => row.status === "cancelled" && !row.cascaded

/** See `ChildTable`. `isWaiting` says whether the parent of a flow waits for its children. */
export class MemoryChildren implements ChildTable {
  readonly #flows = new Map<string, Children>()
  readonly #pending: OrderedIndex<ChildSlot>
  readonly #owed: OrderedIndex<ChildSlot>
  readonly #makeIndex: MakeIndex
  readonly #isWaiting: (flowId: string) => boolean

  constructor(makeIndex: MakeIndex, isWaiting: (flowId: string) => boolean) {
    this.#makeIndex = makeIndex
    this.#isWaiting = isWaiting
    this.#pending = makeIndex(byAge)
    this.#owed = makeIndex(byFlow)
  }

  get(flowId: string, childKey: string): ChildRow | undefined {
    return this.#flows.get(flowId)?.byKey.get(childKey)?.row
  }

  insert(rows: ReadonlyArray<ChildRow>): void {
    for (const row of rows) {
      let flow = this.#flows.get(row.flowId)
      if (flow === undefined) {
        flow = { byKey: new Map(), inOrder: this.#makeIndex(byKey), owed: 0 }
        this.#flows.set(row.flowId, flow)
      }
      const slot: ChildSlot = { row }
      flow.byKey.set(row.childKey, slot)
      flow.inOrder.add(slot)
      this.#enter(flow, slot)
    }
  }

  update(before: ChildRow, after: ChildRow): void {
    const flow = this.#flows.get(before.flowId)
    const slot = flow?.byKey.get(before.childKey)
    if (flow === undefined || slot === undefined) {
      throw new Error(`child ${JSON.stringify(before.childKey)} of flow ${JSON.stringify(before.flowId)} is not there`)
    }
    this.#leave(flow, slot)
    slot.row = after
    this.#enter(flow, slot)
  }

  /** Forgets a flow with all of its rows. */
  deleteFlow(flowId: string): void {
    const flow = this.#flows.get(flowId)
    if (flow === undefined) return
    for (const slot of flow.byKey.values()) this.#leave(flow, slot)
    this.#flows.delete(flowId)
  }

  *list(flowId: string, after: string | undefined): IterableIterator<ChildRow> {
    const isBefore = ({ row }: ChildSlot) => after !== undefined && compareText(row.childKey, after) <= 0
    for (const { row } of this.#flows.get(flowId)?.inOrder.ascending(isBefore) ?? []) yield row
  }

  withStatus(flowId: string, status: FlowChildStatus): ReadonlyArray<ChildRow> {
    return Array.from(this.list(flowId, undefined)).filter((row) => row.status === status)
  }

  *pendingSince(moment: number): IterableIterator<ChildRow> {
    for (const { row } of this.#pending.ascending()) {
      if (row.pendingSince > moment) break
      if (this.#isWaiting(row.flowId)) yield row
    }
  }

  *owedCascade(): IterableIterator<ChildRow> {
    for (const { row } of this.#owed.ascending()) yield row
  }

  owesCascade(flowId: string): boolean {
    return (this.#flows.get(flowId)?.owed ?? 0) > 0
  }

  #enter(flow: Children, slot: ChildSlot): void {
    if (slot.row.status === "pending") this.#pending.add(slot)
    if (isOwed(slot.row)) {
      flow.owed++
      this.#owed.add(slot)
    }
  }

  #leave(flow: Children, slot: ChildSlot): void {
    if (slot.row.status === "pending") this.#pending.delete(slot)
    if (isOwed(slot.row)) {
      flow.owed--
      this.#owed.delete(slot)
    }
  }
}
