/**
 * What commands are drawn from, and what their references mean. A command names "the third job that waits" or "the token that
 * holds it", so that a history which loses some of its commands by shrinking is still one that means something.
 */
import type { JobState } from "@jobwire/protocol"
import * as fc from "fast-check"
import type { Call } from "../answers.ts"
import { type Child, find, type Job, type State } from "../state.ts"

/** What a command sees when its turn comes. */
export interface World {
  readonly state: State
  readonly now: number
}

/** What a history does. */
export type Action =
  | { readonly _tag: "Call"; readonly call: Call }
  /** Lets time pass until this moment. */
  | { readonly _tag: "Pass"; readonly to: number }
  /** Closes the store and opens it again. */
  | { readonly _tag: "Reopen" }
  /** Compares all that can be seen. */
  | { readonly _tag: "Look" }

/** A command as it is drawn; nothing when there is nothing that it could be about. */
export interface Command {
  (world: World): Action | undefined
}

/** Commands that follow each other. */
export type Sequence = ReadonlyArray<Command>

/** Sequences of which the first that there is something for is carried out. */
export type Turn = ReadonlyArray<Sequence>

/** A command that makes a call. */
export const calling =
  <A>(make: (world: World, drawn: A) => Call | undefined) =>
  (drawn: A): Command =>
  (world) => {
    const call = make(world, drawn)
    return call === undefined ? undefined : { _tag: "Call", call }
  }

// Few of everything, so that calls meet. The last two ids are ordered otherwise by UTF-16 units than by code points.
export const queues = ["q1", "q2"] as const
export const names = ["n1", "n2"] as const
export const ids = ["a", "b", "c", "d", "\uff5e", "\u{1f600}"] as const
export const tokens = ["t1", "t2", "t3", "t4", "t5", "t6"] as const
export const dedupeKeys = ["k1", "k2"] as const
export const childKeys = ["x", "y", "\uff5e", "\u{1f600}"] as const
export const scheduleKeys = ["s1", "s2", "s3"] as const
export const scheduleGroups = ["g1", "g2"] as const

/** A number that is taken modulo the length of what it chooses from. */
export const position = fc.nat({ max: 29 })

/** The so-many-th of these. */
export const pick = <A>(from: ReadonlyArray<A>, at: number): A | undefined => from[at % Math.max(1, from.length)]

const groups = {
  any: () => true,
  /** Active, and somebody wants it cancelled. */
  asked: ({ record }: Job) => record.cancelRequested,
  /** A parent. */
  flow: ({ flow }: Job) => flow !== undefined,
  /** A parent whose rows owe cascades. */
  owing: ({ flow }: Job) => flow?.children.some(({ cascaded, status }) => status === "cancelled" && !cascaded) === true
} as const

/** Some of the jobs. */
export type Among = JobState | keyof typeof groups

const isAmong =
  (among: Among) =>
  (job: Job): boolean =>
    among in groups ? groups[among as keyof typeof groups](job) : job.record.state === among

/** A job among some; or an id that there may be no job of. */
export interface JobRef {
  readonly among: Among | "ids"
  readonly at: number
}

/** A reference to a job, mostly to one among these. */
export const jobRef = (among: Among): fc.Arbitrary<JobRef> =>
  fc.record({
    among: fc.oneof(
      { weight: 8, arbitrary: fc.constant(among) },
      { weight: 1, arbitrary: fc.constant("any" as const) },
      { weight: 1, arbitrary: fc.constant("ids" as const) }
    ),
    at: position
  })

/** What is referred to: an id, and the job that has it; nothing when no job is among those. */
export const jobOf = (
  { state }: World,
  { among, at }: JobRef
): { readonly id: string; readonly job: Job | undefined } | undefined => {
  if (among === "ids") {
    const id = pick([...ids, "nobody"], at) ?? "nobody"
    return { id, job: find(state, id) }
  }
  const job = pick(state.jobs.filter(isAmong(among)), at)
  return job === undefined ? undefined : { id: job.record.id, job }
}

/** A command about the job that is referred to. */
export const onJob =
  (make: (id: string) => Call) =>
  (world: World, ref: JobRef): Call | undefined => {
    const found = jobOf(world, ref)
    return found === undefined ? undefined : make(found.id)
  }

/** A token: that of the job's latest run, or any. */
export interface TokenRef {
  readonly its: boolean
  readonly at: number
}

export const tokenRef: fc.Arbitrary<TokenRef> = fc.record({
  its: fc.oneof({ weight: 7, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  at: position
})

/** The token that is referred to. */
export const tokenOf = (job: Job | undefined, { at, its }: TokenRef): string => {
  const latest = job?.lock?.token ?? job?.ledger.findLast(({ by }) => by !== undefined)?.by?.token
  return (its ? latest : undefined) ?? pick(tokens, at) ?? "t1"
}

/** A dependency row with its flow. */
export interface Row {
  readonly flowId: string
  readonly child: Child
}

/** All dependency rows. */
export const rowsOf = ({ state }: World): ReadonlyArray<Row> =>
  state.jobs.flatMap(({ flow, record }) => (flow?.children ?? []).map((child) => ({ flowId: record.id, child })))
