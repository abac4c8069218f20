/** Arguments that break the contract: each is refused by name, and nothing has changed. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Kit from "./kit.ts"
import { durationPlaces, factorPlaces, integerPlaces, momentPlaces, mostInteger } from "./numberPlaces.ts"
import { inSchedule } from "./requestPlaces.ts"
import { areSchedules, schedule } from "./schedules.ts"
import type { ScheduleRecord } from "../Schedule.ts"
import { textPlaces } from "./textPlaces.ts"
import { metadataPlaces } from "./valuePlaces.ts"
import { accepts, type Place, populate, refuses } from "./world.ts"

const bad = ["\u0000", "a\u0000b", "\ud800", "a\udc00", "\udc00\ud800"]

const texts = (test: Kit.Test) => {
  for (const place of textPlaces) {
    const values = place.mayBeEmpty === true ? bad : ["", ...bad]
    test(`${place.operation}: ${place.field} that is empty, has a NUL or a lone surrogate is refused`, (store) =>
      refuses(store, place, values))
  }

  for (const place of textPlaces.filter(({ mayBeEmpty }) => mayBeEmpty)) {
    test(`${place.operation}: ${place.field} may be empty`, (store) =>
      Effect.gen(function* () {
        yield* accepts(place.call(store, yield* populate(store), ""))
      }))
  }

  for (const place of metadataPlaces) {
    test(`${place.operation}: ${place.field} with a NUL or a lone surrogate in a key or a value is refused`, (store) =>
      Effect.gen(function* () {
        yield* refuses(
          store,
          place,
          bad.map((text) => ({ k: text })),
          `${place.field}.k`
        )
      }))
    test(`${place.operation}: ${place.field} with a NUL or a lone surrogate in a key is refused`, (store) =>
      refuses(
        store,
        place,
        bad.map((text) => ({ [text]: "v" }))
      ))
  }
}

const notFinite = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

const numbers = (test: Kit.Test) => {
  for (const place of [...durationPlaces, ...factorPlaces]) {
    test(`${place.operation}: ${place.field} that is not finite is refused`, (store) =>
      refuses(store, place, notFinite))

    const { least } = place
    if (least === undefined) {
      test(`${place.operation}: ${place.field} may be negative`, (store) =>
        Effect.gen(function* () {
          yield* accepts(place.call(store, yield* populate(store), -1))
        }))
    } else {
      test(`${place.operation}: ${place.field} below ${least} is refused`, (store) =>
        refuses(store, place, [least - 1, -1e9]))
      test(`${place.operation}: ${place.field} may be ${least}`, (store) =>
        Effect.gen(function* () {
          yield* accepts(place.call(store, yield* populate(store), least))
        }))
    }
  }

  for (const place of integerPlaces) {
    const least = place.least ?? 0
    test(`${place.operation}: ${place.field} that is no whole number from ${least} is refused`, (store) =>
      refuses(store, place, [...notFinite, 1.5, least - 1, mostInteger + 1, 1e300]))
    test(`${place.operation}: ${place.field} may be ${least} and ${mostInteger}`, (store) =>
      Effect.gen(function* () {
        const world = yield* populate(store)
        yield* accepts(place.call(store, world, mostInteger))
        yield* accepts(place.call(store, world, least))
      }))
  }

  for (const place of momentPlaces) {
    test(`${place.operation}: ${place.field} that is no moment a Date can hold is refused`, (store) =>
      refuses(store, place, [...notFinite, 8.64e15 + 1, -8.64e15 - 1]))
    test(`${place.operation}: ${place.field} may be the first and the last moment of a Date`, (store) =>
      Effect.gen(function* () {
        const world = yield* populate(store)
        yield* accepts(place.call(store, world, 8.64e15))
        yield* accepts(place.call(store, world, -8.64e15))
      }))
  }
}

const ranges = (test: Kit.Test) => {
  test("the lowest and the highest priority are kept, and claimed in their order", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "lowest", priority: -2_147_483_648 })
      yield* Kit.add(store, { id: "middle" })
      yield* Kit.add(store, { id: "highest", priority: mostInteger })
      assert.deepStrictEqual(yield* Kit.takeAll(store), ["highest", "middle", "lowest"])
      yield* Kit.isJob(store, "lowest", { priority: -2_147_483_648 })
      yield* Kit.isJob(store, "highest", { priority: mostInteger })
    }))

  test("a fraction of a millisecond is rounded up, and a negative delay counts as 0", (store) =>
    Effect.gen(function* () {
      const fraction = yield* Kit.add(store, { delayMs: 0.25 })
      yield* Kit.isJob(store, fraction, { state: "delayed", runAt: Kit.start + 1 })
      const negative = yield* Kit.add(store, { delayMs: -5000, queue: "other" })
      yield* Kit.isJob(store, negative, { state: "waiting", runAt: Kit.start })
      const held = yield* Kit.take(store, { queue: "other" })
      yield* store.ack(negative, held.token, Kit.again(-5000))
      yield* Kit.isJob(store, negative, { state: "waiting" })
    }))

  test("schedules at the first and the last moment of a Date are kept and are due in their order", (store) =>
    Effect.gen(function* () {
      const first = schedule("first", { nextRunAt: -8.64e15 })
      const last = schedule("last", { nextRunAt: 8.64e15 })
      yield* store.upsertSchedule(last)
      yield* store.upsertSchedule(first)
      yield* areSchedules(store, [first, last])
      assert.deepStrictEqual(yield* store.dueSchedules(), [first])
    }))
}

/** A schedule as a whole, with these fields. */
const wholeSchedule = (fields: Partial<ScheduleRecord>): Place<undefined> => ({
  operation: "upsertSchedule",
  field: "schedule",
  call: (store) => store.upsertSchedule({ ...schedule("new"), ...fields })
})

const cadences = (test: Kit.Test) => {
  test("a schedule with both cron and everyMs is refused", (store) =>
    refuses(store, wholeSchedule({ cron: "0 9 * * *", everyMs: 1000 }), [undefined]))

  test("a schedule with neither cron nor everyMs is refused", (store) =>
    refuses(store, wholeSchedule({ cron: undefined, everyMs: undefined }), [undefined]))

  test("a cron expression that is not understood is refused", (store) =>
    refuses(
      store,
      inSchedule("cron", (cron: string) => ({ cron, everyMs: undefined })),
      ["often", "61 * * * *", "* * * *", "0 9 * * MON-"]
    ))

  test("a time zone that is not known is refused, also beside everyMs", (store) =>
    Effect.gen(function* () {
      const zone = inSchedule("tz", ({ cron, tz }: { cron: string | undefined; tz: string }) => ({
        cron,
        everyMs: cron === undefined ? 1000 : undefined,
        tz
      }))
      yield* refuses(store, zone, [
        { cron: "0 9 * * *", tz: "Mars/Olympus" },
        { cron: undefined, tz: "Mars/Olympus" }
      ])
    }))

  test("cron expressions of five and of six fields, time zones by name and by offset are kept as they came", (store) =>
    Effect.gen(function* () {
      const kept = [
        schedule("five", { cron: "*/5 9-17 * * MON-FRI", tz: "America/Argentina/Buenos_Aires" }),
        schedule("six", { cron: "30 0 12 1 * *", tz: "+02:00" }),
        schedule("every", { tz: "UTC" })
      ]
      for (const each of kept) yield* store.upsertSchedule(each)
      yield* areSchedules(store, kept)
    }))
}

export const refusals = (test: Kit.Test) => {
  describe("refusals: texts", () => {
    texts(test)
  })
  describe("refusals: numbers", () => {
    numbers(test)
  })
  describe("values at the ends of their range", () => {
    ranges(test)
  })
  describe("refusals: cadence of a schedule", () => {
    cadences(test)
  })
}
