/** A small world to refuse calls in: something for every operation to act on, and a picture of all that can be seen. */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Option } from "effect"
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
  const held = yield* Kit.addAndTake(store, { id: "held", queue: "held" })
  yield* Kit.addFinished(store, "failed", { id: "failed", parent: parentLink("far", "key") })
  yield* addParent(store, ["a", "b"], { fields: { id: "parent" } })
  yield* Kit.add(store, {
    id: "waiting",
    dedupe: { key: "key", ttlMs: undefined, extend: false, replace: false }
  })
  yield* Kit.add(store, { id: "delayed", delayMs: 60_000 })
  yield* store.upsertSchedule(schedule("schedule", { nextRunAt: Kit.start }))
  yield* store.pause("paused")
  const world: World = { held, parent: "parent", schedule: "schedule", wakeToken }
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

/** Asserts that a call is not refused; errors about the job are no refusals. */
export const accepts = Effect.fnUntraced(function* (effect: Effect.Effect<unknown, Tagged>) {
  const exit = yield* Effect.exit(effect)
  if (Exit.isSuccess(exit)) return
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (error === undefined || error._tag === "JobStoreError") {
    return assert.fail(`expected the call to be taken, and it failed with ${Cause.pretty(exit.cause)}`)
  }
})

/** Asserts that calls with a value at each of the places are refused as bad arguments, by name, and change nothing. */
export const refusesAll = Effect.fnUntraced(function* <A>(
  store: Kit.Store,
  calls: ReadonlyArray<{ readonly place: Place<A>; readonly value: A; readonly field: string }>
) {
  const world = yield* populate(store)
  const before = yield* picture(store)
  for (const { field, place, value } of calls) {
    const reason = yield* Kit.refusedFor(place.call(store, world, value), "InvalidArgument")
    assert.strictEqual(reason.field, field)
  }
  assert.deepStrictEqual(yield* picture(store), before)
})

/** Asserts that a call with each of the values is refused as a bad argument, by the field's name, and changes nothing. */
export const refuses = <A>(store: Kit.Store, place: Place<A>, values: ReadonlyArray<A>, field = place.field) =>
  refusesAll(
    store,
    values.map((value) => ({ place, value, field }))
  )

/** Asserts that a call with a value over a limit is refused with the limit and the size, and changes nothing. */
export const isOver = Effect.fnUntraced(function* <A>(
  store: Kit.Store,
  { call, field }: Place<A>,
  value: A,
  limit: number,
  size: number
) {
  const world = yield* populate(store)
  const before = yield* picture(store)
  const reason = yield* Kit.refusedFor(call(store, world, value), "LimitExceeded")
  assert.deepStrictEqual({ ...reason }, { _tag: "LimitExceeded", field, limit, size })
  assert.deepStrictEqual(yield* picture(store), before)
})
