/**
 * What the model knows of a store: plain data that nothing changes. A step makes another state.
 *
 * The model is a second reading of `docs/protocol.md`, to be compared with the stores: it shares no rule with them, finds
 * everything by looking at all there is, and never minds what that costs.
 */
import type {
  AckOutcome,
  AttemptRecord,
  EnqueueRequest,
  FlowChildStatus,
  JobRecord,
  ListOptions,
  OutboxEntry,
  ScheduleRecord
} from "@jobwire/protocol"

/** A ledger entry, and the ack that wrote it. */
export interface Run {
  readonly entry: AttemptRecord
  readonly by: { readonly token: string; readonly outcome: AckOutcome } | undefined
}

/** A dependency row. */
export interface Child {
  readonly childKey: string
  readonly storeKey: string
  readonly request: EnqueueRequest
  readonly status: FlowChildStatus
  readonly exit: unknown
  readonly failedReason: string | undefined
  readonly cascaded: boolean
  /** Since when it is pending, or was last given to be reconciled. */
  readonly since: number
}

/** A job: its record but for `flow`, which is counted from the children, and what only the store knows. */
export interface Job {
  /** Which job it is, also when a later one has its id. */
  readonly number: number
  /** The lower, the sooner it runs among jobs of its priority. */
  readonly place: number
  readonly record: Omit<JobRecord, "flow">
  readonly lock: { readonly token: string; readonly until: number } | undefined
  readonly ledger: ReadonlyArray<Run>
  /** Absent until the job has fanned out. */
  readonly flow: { readonly failFast: boolean; readonly children: ReadonlyArray<Child> } | undefined
}

/** A dedupe key and the job that took it last. */
export interface Key {
  readonly name: string
  readonly key: string
  readonly job: { readonly number: number; readonly id: string }
  /** When its window ends; a key without one holds while its job is not terminal. */
  readonly until: number | undefined
}

/** An outbox entry. Delivered ones stay, as `after` may name them. */
export interface Outgoing {
  /** The id that the store has told for it. */
  readonly id: string | undefined
  readonly entry: Omit<OutboxEntry, "id">
  readonly deleted: boolean
}

/** Something became claimable. */
export interface Wake {
  readonly queue: string
  /** Absent when every job of the queue did. */
  readonly name: string | undefined
  /** Whether a taker must be woken; it may be in any case. */
  readonly sure: boolean
}

/** A wake token that the store gave: what had happened by then, and what its claim had asked for. */
export interface WakeToken {
  readonly token: string
  readonly wakes: number
  readonly queue: string
  readonly names: ReadonlyArray<string>
}

/** A cursor of a list that the store gave, and where its page ended. */
export interface ListCursor {
  readonly cursor: string
  readonly options: ListOptions
  readonly value: number
  readonly id: string
}

/** A cursor of a flow's rows that the store gave, and the last key of its page. */
export interface ChildCursor {
  readonly cursor: string
  readonly flowId: string
  readonly childKey: string
}

/** A store. */
export interface State {
  /** In the order of their enqueue. */
  readonly jobs: ReadonlyArray<Job>
  readonly keys: ReadonlyArray<Key>
  readonly paused: ReadonlyArray<string>
  readonly schedules: ReadonlyArray<ScheduleRecord>
  /** Oldest first. */
  readonly outbox: ReadonlyArray<Outgoing>
  /** All that ever became claimable, oldest first. */
  readonly wakes: ReadonlyArray<Wake>
  /** The latest number and the latest place in line that a job was given. */
  readonly numbers: number
  /** What the store has given to be given back. */
  readonly wakeTokens: ReadonlyArray<WakeToken>
  readonly listCursors: ReadonlyArray<ListCursor>
  readonly childCursors: ReadonlyArray<ChildCursor>
}

/** A new store. */
export const empty: State = {
  jobs: [],
  keys: [],
  paused: [],
  schedules: [],
  outbox: [],
  wakes: [],
  numbers: 0,
  wakeTokens: [],
  listCursors: [],
  childCursors: []
}

/** The job with this id. */
export const find = (state: State, id: string): Job | undefined => state.jobs.find((job) => job.record.id === id)

/** The state with another version of a job. */
export const put = (state: State, job: Job): State => ({
  ...state,
  jobs: state.jobs.map((each) => (each.number === job.number ? job : each))
})

/** The state with some fields of a job's record changed. */
export const change = (state: State, job: Job, fields: Partial<Job["record"]>): State =>
  put(state, { ...job, record: { ...job.record, ...fields } })

/** The state with the job at the back of the line. */
export const toBack = (state: State, job: Job): State => {
  const numbers = state.numbers + 1
  return put({ ...state, numbers }, { ...job, place: numbers })
}

/** The state in which a job of the queue with this name became claimable. In a paused queue nothing did: `resume` will tell. */
export const wake = (state: State, queue: string, name: string, sure = true): State => ({
  ...state,
  wakes: [...state.wakes, { queue, name, sure: sure && !state.paused.includes(queue) }]
})

const count = (children: ReadonlyArray<Child>, status: FlowChildStatus): number =>
  children.filter((child) => child.status === status).length

/** The record of a job as callers see it. */
export const recordOf = ({ flow, record }: Job): JobRecord => ({
  ...record,
  flow:
    flow === undefined
      ? undefined
      : {
          failFast: flow.failFast,
          pending: count(flow.children, "pending"),
          completed: count(flow.children, "completed"),
          failed: count(flow.children, "failed"),
          cancelled: count(flow.children, "cancelled")
        }
})

/** Whether a job has finished. */
export const isOver = ({ record }: Job): boolean => ["completed", "failed", "cancelled"].includes(record.state)

/** A duration in whole milliseconds. */
export const whole = (ms: number): number => Math.max(0, Math.ceil(ms))

/** A value as JSON carries it. */
export const json = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))

/** Which text comes first, by code points. */
export const compareText = (one: string, other: string): number => {
  const [a, b] = [one, other].map((text) => Array.from(text, (character) => character.codePointAt(0) ?? 0))
  if (a === undefined || b === undefined) return 0
  const at = a.findIndex((point, index) => point !== b[index])
  return at < 0 ? a.length - b.length : at < b.length ? (a[at] ?? 0) - (b[at] ?? 0) : 1
}
