/** Every argument that takes a number, with the range that it may have. */
import * as Limits from "../Limits.ts"
import { keep, dedupe, inRequests, inSchedule, link, shared } from "./requestPlaces.ts"
import * as Kit from "./kit.ts"
import { type Call, type Place, waysToAck } from "./world.ts"

/** An argument that takes a number. */
export interface NumberPlace extends Place<number> {
  /** The lowest number that is taken; undefined where a negative one counts as 0. */
  readonly least: number | undefined
}

const atLeast = (least: number | undefined, places: ReadonlyArray<Place<number>>): ReadonlyArray<NumberPlace> =>
  places.map((place) => ({ ...place, least }))

const place = (operation: string, field: string, call: Call<number>): ReadonlyArray<Place<number>> => [
  { operation, field, call }
]

const backoff = (fields: { readonly delayMs?: number; readonly factor?: number }) => ({
  backoff: { _tag: "exponential" as const, delayMs: 1, factor: undefined, ...fields }
})

const states = ["completed", "failed", "cancelled"] as const

/** Durations in milliseconds: at most `Limits.durationMs`. */
export const durationPlaces: ReadonlyArray<NumberPlace> = [
  ...atLeast(0, shared({ name: "timeoutMs", set: (timeoutMs: number) => ({ timeoutMs }) })),
  ...atLeast(0, shared({ name: "backoff.delayMs", set: (delayMs: number) => backoff({ delayMs }) })),
  ...states.flatMap((state) =>
    atLeast(0, shared({ name: `keep.${state}.ageMs`, set: (ageMs: number) => keep(state, { ageMs }) }))
  ),
  ...atLeast(0, inRequests({ name: "dedupe.ttlMs", set: (ttlMs: number) => dedupe({ ttlMs }) })),
  ...atLeast(undefined, inRequests({ name: "delayMs", set: (delayMs: number) => ({ delayMs }) })),
  ...atLeast(1, [inSchedule("everyMs", (everyMs: number) => ({ everyMs }))]),
  ...atLeast(
    0,
    place("claim", "options.lockDurationMs", (store, _world, lockDurationMs) =>
      store.claim(Kit.claimOptions({ queue: "none", lockDurationMs }))
    )
  ),
  ...atLeast(
    0,
    place("claimMany", "options.lockDurationMs", (store, _world, lockDurationMs) =>
      store.claimMany(Kit.claimManyOptions({ queue: "none", lockDurationMs }))
    )
  ),
  ...atLeast(
    0,
    place("extendLocks", "durationMs", (store, { held }, ms) => store.extendLocks([held], ms))
  ),
  ...atLeast(
    undefined,
    waysToAck.flatMap(({ ack, operation }) =>
      place(operation, "outcome.delayMs", (store, { held }, ms) => ack(store, held.id, held.token, Kit.again(ms)))
    )
  ),
  ...atLeast(
    undefined,
    place("flowSweepWork", "options.pendingAgeMs", (store, _world, pendingAgeMs) =>
      store.flowSweepWork({ pendingAgeMs })
    )
  )
]

const lowest = -2_147_483_648

/** Whole numbers of 32 bits. */
export const integerPlaces: ReadonlyArray<NumberPlace> = [
  ...atLeast(lowest, shared({ name: "priority", set: (priority: number) => ({ priority }) })),
  ...atLeast(0, shared({ name: "attemptsMax", set: (attemptsMax: number) => ({ attemptsMax }) })),
  ...states.flatMap((state) =>
    atLeast(0, shared({ name: `keep.${state}.count`, set: (count: number) => keep(state, { count }) }))
  ),
  ...atLeast(0, inRequests({ name: "parent.depth", set: (depth: number) => link({ depth }) })),
  ...atLeast(
    0,
    place("recoverStalled", "options.maxStalledCount", (store, _world, maxStalledCount) =>
      store.recoverStalled({ maxStalledCount })
    )
  ),
  ...atLeast(
    1,
    place("list", "options.limit", (store, _world, limit) => store.list({ limit }))
  ),
  ...atLeast(
    1,
    place("listChildResults", "options.limit", (store, { parent }, limit) => store.listChildResults(parent, { limit }))
  ),
  ...atLeast(
    1,
    place("flowSweepWork", "options.limit", (store, _world, limit) =>
      store.flowSweepWork({ pendingAgeMs: 1000, limit })
    )
  ),
  ...atLeast(
    1,
    place("peekOutbox", "options.limit", (store, _world, limit) => store.peekOutbox({ limit }))
  )
]

/** The highest of them. */
export const mostInteger = 2_147_483_647

/** Moments that a Date can hold. */
export const momentPlaces: ReadonlyArray<Place<number>> = [
  inSchedule("nextRunAt", (nextRunAt: number) => ({ nextRunAt, everyMs: 1 })),
  ...place("tickSchedule", "expectedRunAt", (store, world, moment) =>
    store.tickSchedule(world.schedule, moment, Kit.start, Kit.request({ id: "tick" }))
  ),
  ...place("tickSchedule", "nextRunAt", (store, world, moment) =>
    store.tickSchedule(world.schedule, Kit.start, moment, Kit.request({ id: "tick" }))
  ),
  ...place("advanceSchedule", "expectedRunAt", (store, world, moment) =>
    store.advanceSchedule(world.schedule, moment, Kit.start)
  ),
  ...place("advanceSchedule", "nextRunAt", (store, world, moment) =>
    store.advanceSchedule(world.schedule, Kit.start, moment)
  )
]

/** The factor of a backoff: a finite number from 0. */
export const factorPlaces: ReadonlyArray<NumberPlace> = atLeast(
  0,
  shared({ name: "backoff.factor", set: (factor: number) => backoff({ factor }) })
)

/** The longest duration. */
export const mostDuration = Limits.defaults.durationMs
