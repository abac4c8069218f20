/** Keeping schedules: create, replace, remove, list, and which are due. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { type ScheduleFilter, ScheduleRecord } from "../Schedule.ts"
import * as Kit from "./kit.ts"

const hour = 3_600_000

/** A schedule that next runs one second after the start; every hour unless `cron` is given. */
export const schedule = (key: string, fields?: Partial<ScheduleRecord>): ScheduleRecord =>
  ScheduleRecord.make({
    key,
    jobName: Kit.name,
    queue: Kit.queue,
    everyMs: fields?.cron === undefined ? hour : undefined,
    nextRunAt: Kit.start + 1000,
    ...fields
  })

const byKey = (records: ReadonlyArray<ScheduleRecord>) =>
  records.toSorted((one, other) => (one.key < other.key ? -1 : 1))

/** Asserts all schedules of the store, whatever their order. */
export const areSchedules = Effect.fnUntraced(function* (
  store: Kit.Store,
  expected: ReadonlyArray<ScheduleRecord>,
  filter?: ScheduleFilter
) {
  const found = yield* store.listSchedules(filter)
  assert.deepStrictEqual(byKey(found), byKey(expected), `listSchedules(${JSON.stringify(filter)})`)
})

const full: Partial<ScheduleRecord> = {
  payload: { list: [1, "two", null], big: 9_007_199_254_740_991, empty: [], none: {} },
  metadata: { tenant: "acme" },
  priority: -7,
  attemptsMax: 5,
  backoff: { _tag: "exponential", delayMs: 250, factor: 1.5 },
  keep: {
    completed: { count: 3, ageMs: undefined },
    failed: { count: undefined, ageMs: 60_000 },
    cancelled: { count: 0, ageMs: 0 }
  },
  timeoutMs: 30_000,
  group: "reports"
}

const upserts = (test: Kit.Test) => {
  test("a new schedule is kept with every field", (store) =>
    Effect.gen(function* () {
      const every = schedule("every", full)
      const cron = schedule("cron", { ...full, cron: "0 9 * * 1-5", tz: "Europe/Berlin" })
      yield* store.upsertSchedule(every)
      yield* store.upsertSchedule(cron)
      yield* areSchedules(store, [every, cron])
    }))

  test("what a schedule leaves out stays absent, and a payload of null is null", (store) =>
    Effect.gen(function* () {
      const absent = schedule("absent", { payload: undefined })
      const nothing = schedule("null", { payload: null })
      yield* store.upsertSchedule(absent)
      yield* store.upsertSchedule(nothing)
      yield* areSchedules(store, [absent, nothing])
    }))

  test("the same key replaces the schedule whole, also what is left out now", (store) =>
    Effect.gen(function* () {
      yield* store.upsertSchedule(schedule("key", full))
      const other = schedule("key", { everyMs: 2 * hour, jobName: "other", queue: "elsewhere" })
      yield* store.upsertSchedule(other)
      yield* areSchedules(store, [other])
    }))

  test("an unchanged cadence keeps the stored nextRunAt, and takes all else", (store) =>
    Effect.gen(function* () {
      const cadences = [{ everyMs: hour }, { cron: "0 9 * * *" }, { cron: "0 9 * * *", tz: "Asia/Tokyo" }]
      for (const [index, cadence] of cadences.entries()) {
        const key = `key-${index}`
        yield* store.upsertSchedule(schedule(key, { ...cadence, nextRunAt: Kit.start + 5000 }))
        yield* store.upsertSchedule(schedule(key, { ...cadence, ...full, nextRunAt: Kit.start + 9000 }))
        yield* areSchedules(store, [schedule(key, { ...cadence, ...full, nextRunAt: Kit.start + 5000 })])
        yield* store.removeSchedule(key)
      }
    }))

  test("durations are kept in whole milliseconds, rounded up; given again, they are the same cadence", (store) =>
    Effect.gen(function* () {
      const given = schedule("key", {
        everyMs: 1000.5,
        timeoutMs: 0.5,
        backoff: { _tag: "fixed", delayMs: 0.1, factor: undefined },
        keep: { completed: { count: undefined, ageMs: 9.1 }, failed: undefined, cancelled: undefined }
      })
      const kept = schedule("key", {
        everyMs: 1001,
        timeoutMs: 1,
        backoff: { _tag: "fixed", delayMs: 1, factor: undefined },
        keep: { completed: { count: undefined, ageMs: 10 }, failed: undefined, cancelled: undefined }
      })
      yield* store.upsertSchedule(given)
      yield* areSchedules(store, [kept])
      yield* store.upsertSchedule({ ...given, nextRunAt: Kit.start + 9000 })
      yield* areSchedules(store, [kept])
    }))

  const changes = [
    { what: "another everyMs", from: { everyMs: hour }, to: { everyMs: hour + 1 } },
    { what: "another cron", from: { cron: "0 9 * * *" }, to: { cron: "0 10 * * *" } },
    { what: "another time zone", from: { cron: "0 9 * * *", tz: "Asia/Tokyo" }, to: { cron: "0 9 * * *", tz: "UTC" } },
    { what: "a time zone where there was none", from: { cron: "0 9 * * *" }, to: { cron: "0 9 * * *", tz: "UTC" } },
    { what: "no time zone where there was one", from: { cron: "0 9 * * *", tz: "UTC" }, to: { cron: "0 9 * * *" } },
    { what: "everyMs in place of cron", from: { cron: "0 9 * * *" }, to: { everyMs: hour } },
    { what: "cron in place of everyMs", from: { everyMs: hour }, to: { cron: "0 9 * * *" } }
  ]

  for (const { from, to, what } of changes) {
    test(`a changed cadence takes the given nextRunAt: ${what}`, (store) =>
      Effect.gen(function* () {
        yield* store.upsertSchedule(schedule("key", { ...from, nextRunAt: Kit.start + 5000 }))
        const changed = schedule("key", { ...to, nextRunAt: Kit.start + 9000 })
        yield* store.upsertSchedule(changed)
        yield* areSchedules(store, [changed])
      }))
  }

  test("an upsert of the same cadence after a tick keeps the place that the tick set", (store) =>
    Effect.gen(function* () {
      const first = schedule("key")
      yield* store.upsertSchedule(first)
      yield* store.tickSchedule("key", first.nextRunAt, Kit.start + 7000, Kit.request({ id: "tick" }))
      yield* store.upsertSchedule(first)
      yield* areSchedules(store, [schedule("key", { nextRunAt: Kit.start + 7000 })])
    }))

  test("a caller that changes its schedule afterwards, or one it was given, changes nothing in the store", (store) =>
    Effect.gen(function* () {
      const payload = { list: [1] }
      const metadata: Record<string, string> = { k: "v" }
      yield* store.upsertSchedule(schedule("key", { payload, metadata }))
      payload.list.push(2)
      metadata.k = "changed"
      const [given] = yield* store.listSchedules()
      if (given === undefined) return assert.fail("there is no schedule")
      // The store gave what was put in.
      const mine = given.payload as typeof payload
      // A store may also give records that cannot be changed.
      Reflect.set(mine.list, 1, 3)
      yield* areSchedules(store, [schedule("key", { payload: { list: [1] }, metadata: { k: "v" } })])
    }))
}

// The keys stand against the order of time.
const at = (ms: number) => schedule(`key-${1_000_000 - ms}`, { nextRunAt: Kit.start + ms })

const removals = (test: Kit.Test) => {
  test("removeSchedule takes the schedule and says true, then false", (store) =>
    Effect.gen(function* () {
      yield* store.upsertSchedule(schedule("a"))
      yield* store.upsertSchedule(schedule("b"))
      assert.isTrue(yield* store.removeSchedule("a"))
      assert.isFalse(yield* store.removeSchedule("a"))
      yield* areSchedules(store, [schedule("b")])
    }))

  test("removeSchedule of an unknown key is false", (store) =>
    Effect.gen(function* () {
      assert.isFalse(yield* store.removeSchedule("unknown"))
    }))

  test("a schedule that was removed and comes again is new: it takes the given nextRunAt", (store) =>
    Effect.gen(function* () {
      yield* store.upsertSchedule(schedule("key", { nextRunAt: Kit.start + 5000 }))
      yield* store.removeSchedule("key")
      const again = schedule("key", { nextRunAt: Kit.start + 9000 })
      yield* store.upsertSchedule(again)
      yield* areSchedules(store, [again])
    }))
}

const lists = (test: Kit.Test) => {
  test("listSchedules without a filter gives all, and none of an empty store", (store) =>
    Effect.gen(function* () {
      yield* areSchedules(store, [])
      yield* store.upsertSchedule(schedule("a"))
      yield* store.upsertSchedule(schedule("b"))
      yield* areSchedules(store, [schedule("a"), schedule("b")])
      yield* areSchedules(store, [schedule("a"), schedule("b")], {})
    }))

  test("listSchedules filters by jobName, queue and group; all that are given must hold", (store) =>
    Effect.gen(function* () {
      const base = schedule("base", { jobName: "n", queue: "q", group: "g" })
      const name = schedule("name", { jobName: "m", queue: "q", group: "g" })
      const queue = schedule("queue", { jobName: "n", queue: "p", group: "g" })
      const group = schedule("group", { jobName: "n", queue: "q", group: "h" })
      const none = schedule("none", { jobName: "n", queue: "q" })
      for (const each of [base, name, queue, group, none]) yield* store.upsertSchedule(each)
      yield* areSchedules(store, [base, queue, group, none], { jobName: "n" })
      yield* areSchedules(store, [base, name, group, none], { queue: "q" })
      yield* areSchedules(store, [base, name, queue], { group: "g" })
      yield* areSchedules(store, [base, group, none], { jobName: "n", queue: "q" })
      yield* areSchedules(store, [base], { jobName: "n", queue: "q", group: "g" })
      yield* areSchedules(store, [], { group: "unknown" })
      yield* areSchedules(store, [], { jobName: "m", queue: "p" })
    }))

  test("dueSchedules gives those whose nextRunAt has come, to the millisecond", (store) =>
    Effect.gen(function* () {
      const due = schedule("key", { ...full, nextRunAt: Kit.start + 1000 })
      yield* store.upsertSchedule(due)
      assert.deepStrictEqual(yield* store.dueSchedules(), [])
      yield* Kit.pass(999)
      assert.deepStrictEqual(yield* store.dueSchedules(), [])
      yield* Kit.pass(1)
      assert.deepStrictEqual(yield* store.dueSchedules(), [due])
      yield* Kit.pass(hour)
      assert.deepStrictEqual(yield* store.dueSchedules(), [due])
    }))

  test("dueSchedules gives the earliest first", (store) =>
    Effect.gen(function* () {
      for (const ms of [300, 100, -50, 200, 90_000]) yield* store.upsertSchedule(at(ms))
      yield* Kit.pass(1000)
      assert.deepStrictEqual(yield* store.dueSchedules(), [at(-50), at(100), at(200), at(300)])
    }))
}

export const schedules = (test: Kit.Test) => {
  describe("schedules: upsertSchedule", () => {
    upserts(test)
  })
  describe("schedules: removeSchedule", () => {
    removals(test)
  })
  describe("schedules: listSchedules and dueSchedules", () => {
    lists(test)
  })
}
