/** A small world to refuse calls in: something for every operation to act on, and a picture of all that can be seen. */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Option } from "effect"
import { JobStoreError, type JobStoreErrorReason } from "../Errors.ts"
import { addParent, parentLink } from "./flowKit.ts"
import * as Kit from "./kit.ts"
import { schedule } from "./schedules.ts"

/** What a call may name so that all its other arguments are good. */
export interface World {
  /** An active job and its token. */
  readonly held: Kit.Held
  /** A parent in waiting-children with the children "a" and "b". */
  readonly parent: string
  /** A schedule that stands at {@link Kit.start}. */
  readonly schedule: string
  /** A wake token of {@link Kit.queue}, which has been woken since. */
  readonly wakeToken: string
}

/** Fills a store with a job in each of some states, a flow, a schedule, a paused queue and an outbox entry. */
export const populate = Effect.fnUntraced(function* (store: Kit.Store) {
  const { wakeToken } = yield* Kit.takeNothing(store)
  yield* Kit.addFinished(store, "failed", { id: "failed", parent: parentLink("far", "key") })
  yield* Kit.add(store, {
    id: "waiting",
    dedupe: { key: "key", ttlMs: undefined, extend: false, replace: false }
  })
  yield* Kit.add(store, { id: "delayed", delayMs: 60_000 })
  yield* store.pause("paused")
  return yield* renew(store, wakeToken)
})

// What a call may have used up, made anew.
const renew = Effect.fnUntraced(function* (store: Kit.Store, wakeToken: string) {
  const held = yield* Kit.addAndTake(store, { queue: Kit.unique("held") })
  const parent = yield* addParent(store, ["a", "b"], { fields: { queue: Kit.unique("parent") } })
  yield* store.removeSchedule("schedule")
  yield* store.upsertSchedule(schedule("schedule", { nextRunAt: Kit.start }))
  const world: World = { held, parent: parent.id, schedule: "schedule", wakeToken }
  return world
})

/** All that can be seen of a store that holds at most a page of each. */
export const picture = Effect.fnUntraced(function* (store: Kit.Store) {
  const { items } = yield* store.list({ order: "asc", limit: 1000 })
  const jobs = yield* Effect.forEach(items, (job) =>
    Effect.map(Effect.all([store.getAttempts(job.id), store.listChildResults(job.id)]), ([ledger, rows]) => ({
      job,
      ledger,
      rows
    }))
  )
  return {
    jobs,
    counts: yield* store.counts(),
    paused: yield* store.pausedQueues(),
    schedules: yield* store.listSchedules(),
    outbox: yield* store.peekOutbox({ limit: 1000 })
  }
})

interface Tagged {
  readonly _tag: string
}

/** A call with one argument left open. */
export interface Call<A> {
  (store: Kit.Store, world: World, value: A): Effect.Effect<unknown, Tagged>
}

/** One argument of one operation. */
export interface Place<A> {
  readonly operation: string
  /** The name by which a refusal calls the argument. */
  readonly field: string
  readonly call: Call<A>
}

/** The two ways to end a run; what is wrong with one ack, both say alike. */
export const waysToAck = [
  { operation: "ack", ack: (store: Kit.Store, ...args: Parameters<Kit.Store["ack"]>) => store.ack(...args) },
  { operation: "ackMany", ack: Kit.ackBeside }
] as const

/** A value at a place, and the name by which its refusal calls it: that of the place unless given. */
export interface Trial {
  readonly what: string
  readonly field: string
  readonly run: (store: Kit.Store, world: World) => Effect.Effect<unknown, Tagged>
}

/** A call with this value at this place. */
export const trial = <A>({ call, field, operation }: Place<A>, value: A, path = ""): Trial => ({
  what: `${operation}: ${field} with ${describe(value)}`,
  field: `${field}${path}`,
  run: (store, world) => call(store, world, value)
})

const describe = (value: unknown): string => {
  if (typeof value === "number") return String(value)
  return typeof value === "string" ? JSON.stringify(value).slice(0, 40) : `a value of type ${typeof value}`
}

/** The places by their operation, for a test an operation. */
export const byOperation = <A extends { readonly operation: string }>(
  places: ReadonlyArray<A>
): ReadonlyArray<readonly [operation: string, places: ReadonlyArray<A>]> => [
  ...Map.groupBy(places, (place) => place.operation)
]

const errorOf = <A>(exit: Exit.Exit<A, Tagged>): Tagged | undefined =>
  Exit.isSuccess(exit) ? undefined : Option.getOrUndefined(Cause.findErrorOption(exit.cause))

/** Asserts that no call is refused; errors about the job are no refusals. */
export const takes = Effect.fnUntraced(function* (store: Kit.Store, trials: ReadonlyArray<Trial>) {
  let world = yield* populate(store)
  for (const { run, what } of trials) {
    const exit = yield* Effect.exit(run(store, world))
    if (Exit.isFailure(exit)) {
      const error = errorOf(exit)
      if (error === undefined || error._tag === "JobStoreError") {
        return assert.fail(`${what} must be taken, and failed with ${Cause.pretty(exit.cause)}`)
      }
    }
    world = yield* renew(store, world.wakeToken)
  }
})

/** Runs calls that must all be refused and change nothing, and gives the reason of each to a check. */
const refused = Effect.fnUntraced(function* <A extends Trial>(
  store: Kit.Store,
  trials: ReadonlyArray<A>,
  check: (reason: JobStoreErrorReason, trial: A) => void
) {
  const world = yield* populate(store)
  const before = yield* picture(store)
  for (const each of trials) {
    const exit = yield* Effect.exit(each.run(store, world))
    const error = errorOf(exit)
    if (!(error instanceof JobStoreError)) {
      const seen = Exit.isSuccess(exit) ? "it was taken" : Cause.pretty(exit.cause)
      return assert.fail(`${each.what} must be refused, and ${seen}`)
    }
    check(error.reason, each)
  }
  assert.deepStrictEqual(yield* picture(store), before, "a refused call has changed something")
})

/** Asserts that every call is refused as a bad argument, by name, and that nothing has changed. */
export const refuses = (store: Kit.Store, trials: ReadonlyArray<Trial>) =>
  refused(store, trials, (reason, { field, what }) =>
    assert.deepStrictEqual({ ...reason }, { _tag: "InvalidArgument", field }, what)
  )

/** A trial of something too long, too big or too many. */
export interface OverLimit extends Trial {
  readonly limit: number
  readonly size: number
}

/** A call with a value at this place that has one more than the limit. */
export const over = <A>(place: Place<A>, value: A, limit: number): OverLimit => ({
  ...trial(place, value),
  limit,
  size: limit + 1
})

/** Asserts that every call is refused for its limit, by name and with its size, and that nothing has changed. */
export const refusesOver = (store: Kit.Store, trials: ReadonlyArray<OverLimit>) =>
  refused(store, trials, (reason, { field, limit, size, what }) =>
    assert.deepStrictEqual({ ...reason }, { _tag: "LimitExceeded", field, limit, size }, what)
  )
