/** What the bench and the processes that it starts say to each other. */
import type { Place, Target } from "../contenders/Store.ts"

/** Which adapter a process is to use, on which store. */
export interface Assignment {
  /** The URL of the adapter's module. */
  readonly module: string
  readonly target: Target
  /** The folder whose `node_modules` the adapter's dependencies come from, where it is not the adapter's own. */
  readonly dependencies?: string | undefined
}

/** What a process can be asked to do: arguments and answer of each command. */
export interface Commands {
  /** Loads the adapter. */
  assign: { args: Assignment; answer: null }
  /** Makes tables and queues in a fresh store. */
  prepare: { args: ReadonlyArray<Place>; answer: null }
  /** Connects to the store. */
  connect: { args: null; answer: null }
  /** So many callers enqueue one job a call, for so long. */
  enqueue: { args: { place: Place; callers: number; seconds: number }; answer: Count }
  /** So many jobs by the bulk call, in turn to the places; no longer than so many seconds. */
  bulk: { args: { places: ReadonlyArray<Place>; count: number; seconds: number }; answer: Count }
  /** Works off so many jobs, or for so long; the time ends when all that were handled are acknowledged. */
  drain: { args: { places: ReadonlyArray<Place>; count: number; seconds: number }; answer: Count }
  /** Works until told to stop; reports what is finished and how long marked jobs took to come. */
  work: { args: ReadonlyArray<Place>; answer: null }
  stopWork: { args: null; answer: null }
  /** So many callers enqueue until told to stop, never more than so many jobs ahead of the worker. */
  produce: { args: { place: Place; callers: number; ahead: number }; answer: null }
  /** How many of the produced jobs are finished. */
  progress: { args: number; answer: null }
  stopProduce: { args: null; answer: number }
  /** One job that carries the time. */
  sendMarked: { args: Place; answer: null }
  fillWaiting: { args: { place: Place; count: number }; answer: null }
  /** Puts in finished jobs by the quickest way the contender has. */
  fillFinished: { args: { place: Place; count: number }; answer: null }
  unfinished: { args: null; answer: number }
  close: { args: null; answer: null }
}

/** How many, and in how many seconds. */
export interface Count {
  readonly count: number
  readonly seconds: number
}

/** A command as it travels. */
export interface Request {
  readonly id: number
  readonly command: keyof Commands
  readonly args: unknown
}

/** What comes back: the answer to a command, or what a worker has to report. */
export type Report =
  | { readonly _tag: "Answer"; readonly id: number; readonly answer: unknown }
  | { readonly _tag: "Failure"; readonly id: number; readonly message: string }
  | { readonly _tag: "Finished"; readonly count: number; readonly atMs: number }
  | { readonly _tag: "Woken"; readonly latencyMs: number }
