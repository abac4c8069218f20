/** Dependency rows as far as they are loaded, and as units have left them. */
import type { ChildRow } from "../../../core/JobRow.ts"
import type { ChildKey } from "./ChildColumns.ts"
import type { Run } from "./Run.ts"

/** A row as the database has it and as units have left it. */
export interface ChildCell {
  stored: ChildRow | undefined
  current: ChildRow | undefined
  /** Whether the request was loaded too. */
  hasRequest: boolean
  /** Whether the database said that the parent waits for its children. */
  isAwaited: boolean
}

/** See the file. */
export class ChildCells {
  readonly #run: Run
  readonly #flows = new Map<string, Map<string, ChildCell>>()
  /** Flows that units have deleted with all of their rows, loaded or not. */
  readonly deletedFlows = new Set<string>()

  constructor(run: Run) {
    this.#run = run
  }

  find({ childKey, flowId }: ChildKey): ChildCell | undefined {
    return this.#flows.get(flowId)?.get(childKey)
  }

  /** The loaded rows of a flow. */
  ofFlow(flowId: string): Iterable<ChildCell> {
    return this.#flows.get(flowId)?.values() ?? []
  }

  /** All loaded rows. */
  *all(): Generator<ChildCell, void> {
    for (const flow of this.#flows.values()) yield* flow.values()
  }

  insert(row: ChildRow): void {
    const found = this.find(row)
    const cell = found ?? this.#cell(row)
    const { current, hasRequest } = cell
    cell.current = row
    cell.hasRequest = true
    this.#run.made(row.request.length)
    this.#run.changed(() => {
      cell.current = current
      cell.hasRequest = hasRequest
      if (found === undefined) this.#flows.get(row.flowId)?.delete(row.childKey)
    })
  }

  update(cell: ChildCell, after: ChildRow): void {
    const before = cell.current
    cell.current = after
    this.#run.changed(() => {
      cell.current = before
    })
  }

  deleteFlow(flowId: string): void {
    const flow = this.#flows.get(flowId)
    const isNew = !this.deletedFlows.has(flowId)
    this.#flows.delete(flowId)
    this.deletedFlows.add(flowId)
    this.#run.changed(() => {
      if (isNew) this.deletedFlows.delete(flowId)
      if (flow === undefined) this.#flows.delete(flowId)
      else this.#flows.set(flowId, flow)
    })
  }

  /** Says that the database has no such row. */
  receiveAbsent(key: ChildKey): void {
    this.#cell(key)
  }

  /** Says what the database has; with its request, or without. */
  receive(row: ChildRow, hasRequest: boolean, isAwaited: boolean): void {
    if (this.deletedFlows.has(row.flowId)) return
    const cell = this.#cell(row)
    this.#run.loaded(row.request.length + (row.exit?.length ?? 0))
    if (cell.stored === undefined && cell.current === undefined) {
      cell.stored = row
      cell.current = row
      cell.hasRequest = hasRequest
    } else if (hasRequest && !cell.hasRequest) {
      addRequest(cell, row.request)
    }
    cell.isAwaited ||= isAwaited
  }

  #cell({ childKey, flowId }: ChildKey): ChildCell {
    let flow = this.#flows.get(flowId)
    if (flow === undefined) {
      flow = new Map()
      this.#flows.set(flowId, flow)
    }
    let cell = flow.get(childKey)
    if (cell === undefined) {
      cell = { stored: undefined, current: undefined, hasRequest: false, isAwaited: false }
      flow.set(childKey, cell)
    }
    return cell
  }
}

const addRequest = (cell: ChildCell, request: string): void => {
  const { current, stored } = cell
  cell.hasRequest = true
  cell.stored = stored === undefined ? undefined : { ...stored, request }
  cell.current = current === stored ? cell.stored : current === undefined ? undefined : { ...current, request }
}
