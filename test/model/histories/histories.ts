/** Histories: commands one after another, with time between them. */
import * as fc from "fast-check"
import type { Call } from "../answers.ts"
import * as Flows from "./flowCommands.ts"
import * as Jobs from "./jobCommands.ts"
import { type Kind, sequence, times } from "./kinds.ts"
import * as Reads from "./readCommands.ts"
import * as Values from "./values.ts"
import { waits } from "./waitCommands.ts"
import {
  type Action,
  type Command,
  dedupeKeys,
  names,
  pick,
  position,
  queues,
  type Sequence,
  type Turn,
  type World
} from "./world.ts"

/** The moments to come at which something ends or comes due. */
const comingUp = ({ now, state }: World): ReadonlyArray<number> =>
  [
    ...state.jobs.flatMap(({ lock, record }) => [
      lock?.until,
      record.state === "delayed" ? record.runAt : undefined,
      ...Object.values(record.keep ?? {}).map((rule) => (record.finishedAt ?? 0) + (rule?.ageMs ?? 0))
    ]),
    ...state.keys.map(({ until }) => until),
    ...state.schedules.map(({ nextRunAt }) => nextRunAt)
  ].filter((moment) => moment !== undefined && moment > now) as ReadonlyArray<number>

const nearby =
  ({ at, off }: { readonly at: number; readonly off: number }): Command =>
  (world) => {
    const moment = pick(comingUp(world), at)
    return moment === undefined ? undefined : { _tag: "Pass", to: Math.max(world.now, moment + off) }
  }

const pass =
  (ms: number): Command =>
  ({ now }) => ({ _tag: "Pass", to: now + ms })

const simple = (weight: number, action: Action): Kind =>
  sequence(
    weight,
    fc.constant<Command>(() => action)
  )

const always: ReadonlyArray<Kind> = [
  ...Reads.refusals,
  ...waits,
  sequence(7, fc.record({ at: position, off: fc.constantFrom(0, 0, -1, 1) }).map(nearby)),
  sequence(3, fc.constantFrom(1, 5, 10, 100).map(pass)),
  // Long enough for what a store does every minute.
  sequence(1, fc.constant(60_000).map(pass)),
  simple(2, { _tag: "Reopen" }),
  simple(1, { _tag: "Look" })
]

/** What a history is about. One about everything alone comes nowhere near the far corners. */
const themes = {
  everything: [
    ...Jobs.enqueues(Values.request({ keyed: 4, children: 3 })),
    ...Jobs.claims,
    ...Jobs.ends(Values.outcomeDraft(4)),
    ...Jobs.leases,
    ...Jobs.operators,
    ...Jobs.pauses,
    ...Flows.families,
    ...Flows.flows,
    ...Flows.outbox,
    ...Flows.schedules,
    ...Reads.reads
  ],
  flows: [
    ...times(0.3, Jobs.enqueues(Values.request({ keyed: 1, children: 8 }))),
    ...times(0.5, Jobs.claims),
    ...times(0.7, Jobs.ends(Values.outcomeDraft(6))),
    ...times(0.5, Jobs.leases),
    ...times(0.7, Jobs.operators),
    ...times(2, Flows.families),
    ...times(2, Flows.flows),
    ...times(2, Flows.outbox)
  ],
  leases: [
    ...times(0.7, Jobs.enqueues(Values.request({ keyed: 1, children: 3 }))),
    ...Jobs.claims,
    ...Jobs.ends(Values.outcomeDraft(1)),
    ...times(3, Jobs.leases),
    ...Jobs.operators,
    ...Jobs.pauses
  ],
  keys: [
    ...times(2, Jobs.enqueues(Values.request({ keyed: 9, children: 1 }))),
    ...times(0.5, Jobs.claims),
    ...times(0.5, Jobs.ends(Values.outcomeDraft(1))),
    ...times(1.5, Jobs.operators)
  ],
  schedulesAndLists: [
    ...Jobs.enqueues(Values.request({ keyed: 2, children: 1 })),
    ...times(0.5, Jobs.claims),
    ...times(0.5, Jobs.ends(Values.outcomeDraft(1))),
    ...times(3, Flows.schedules),
    ...times(4, Reads.reads)
  ]
} satisfies Readonly<Record<string, ReadonlyArray<Kind>>>

const ofTheme = (kinds: ReadonlyArray<Kind>, turns: number): fc.Arbitrary<ReadonlyArray<Turn>> => {
  const any = fc.oneof(...kinds, ...always)
  return fc.array(fc.tuple(any, any, any), { minLength: 1, maxLength: turns, size: "max" })
}

/** Histories of at most so many turns. A short one is where shrinking ends. */
export const histories = (turns: number): fc.Arbitrary<ReadonlyArray<Turn>> =>
  fc.noBias(
    fc.oneof(
      { weight: 2, arbitrary: ofTheme(themes.everything, turns) },
      { weight: 3, arbitrary: ofTheme(themes.flows, turns) },
      { weight: 1, arbitrary: ofTheme(themes.leases, turns) },
      { weight: 2, arbitrary: ofTheme(themes.keys, turns) },
      { weight: 1, arbitrary: ofTheme(themes.schedulesAndLists, turns) }
    )
  )

const call =
  (call: Call): Command =>
  () => ({ _tag: "Call", call })

const many = Array.from({ length: 12 }, (_, index) => `last-${index}`)

const passToLeaseEnd =
  (off: number): Command =>
  (world) => {
    const ends = world.state.jobs.flatMap(({ lock }) => lock?.until ?? []).filter((until) => until > world.now)
    return ends.length === 0 ? undefined : { _tag: "Pass", to: Math.max(world.now, Math.min(...ends) + off) }
  }

/** The end of every history: all that can be seen, and then what no read shows: leases, keys, ages of rows, lines. */
export const epilogue: Sequence = [
  () => ({ _tag: "Look" }),
  passToLeaseEnd(-1),
  call({ name: "recoverStalled", args: [{ maxStalledCount: 1 }] }),
  passToLeaseEnd(0),
  call({ name: "recoverStalled", args: [{ maxStalledCount: 1 }] }),
  ...names.flatMap((name) => dedupeKeys.map((key) => call({ name: "cancelByDedupe", args: [name, key] }))),
  call({ name: "flowSweepWork", args: [{ pendingAgeMs: 20, limit: 100 }] }),
  ...queues.flatMap((queue) => [
    call({ name: "resume", args: [queue] }),
    call({ name: "claimMany", args: [{ queue, names, tokens: many, lockDurationMs: 10 }] })
  ]),
  call({ name: "list", args: [{ order: "asc", limit: 1000 }] }),
  call({ name: "counts", args: [] })
]

/** Calls that show all that can be seen. Of the jobs that are no parents one is asked for rows that should not be there. */
export const look = ({ state }: World): ReadonlyArray<Call> => {
  const parents = state.jobs.filter(({ flow }) => flow !== undefined)
  const other = state.jobs.find(({ flow }) => flow === undefined)
  return [
    { name: "list", args: [{ order: "asc", limit: 1000 }] },
    ...state.jobs.map(({ record }): Call => ({ name: "getAttempts", args: [record.id] })),
    ...[...parents, ...(other === undefined ? [] : [other])].map(({ record }): Call => ({
      name: "listChildResults",
      args: [record.id]
    })),
    { name: "peekOutbox", args: [{ limit: 1000, after: undefined }] },
    { name: "listSchedules", args: [] },
    { name: "pausedQueues", args: [] },
    { name: "counts", args: [] },
    ...queues.map((queue): Call => ({ name: "counts", args: [queue] }))
  ]
}
