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
import { byOperation, type Place, refuses, takes, trial } from "./world.ts"

const bad = ["\u0000", "a\u0000b", "\ud800", "a\udc00", "\udc00\ud800"]

const texts = (test: Kit.Test) => {
  for (const [operation, places] of byOperation(textPlaces)) {
    test(`${operation}: a text that is empty, has a NUL or a lone surrogate is refused, and nothing has changed`, (store) =>
      refuses(
        store,
        places.flatMap((place) => (place.mayBeEmpty === true ? bad : ["", ...bad]).map((text) => trial(place, text)))
      ))
  }

  for (const [operation, places] of byOperation(textPlaces.filter((place) => place.mayBeEmpty === true))) {
    test(`${operation}: ids of a trace and the reason of a failure may be empty`, (store) =>
      takes(
        store,
        places.map((place) => trial(place, ""))
      ))
  }

  for (const [operation, places] of byOperation(metadataPlaces)) {
    test(`${operation}: metadata with a NUL or a lone surrogate is refused, and nothing has changed`, (store) => {
      const values = places.flatMap((place) => bad.map((text) => trial(place, { k: text }, ".k")))
      const keys = places.flatMap((place) => bad.map((text) => trial(place, { [text]: "v" })))
      return refuses(store, [...values, ...keys])
    })
  }
}

const notFinite = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

const numbers = (test: Kit.Test) => {
  for (const [operation, places] of byOperation([...durationPlaces, ...factorPlaces])) {
    test(`${operation}: a duration or factor that is not finite, or too low, is refused`, (store) =>
      refuses(
        store,
        places.flatMap((place) => {
          const low = place.least === undefined ? [] : [place.least - 1, place.least - 1e9]
          return [...notFinite, ...low].map((value) => trial(place, value))
        })
      ))
    test(`${operation}: a duration or factor may be the lowest, and a delay or an age negative`, (store) =>
      takes(
        store,
        places.map((place) => trial(place, place.least ?? -1))
      ))
  }

  for (const [operation, places] of byOperation(integerPlaces)) {
    test(`${operation}: a number that is not whole, or out of its range, is refused`, (store) =>
      refuses(
        store,
        places.flatMap((place) => {
          const outside = [(place.least ?? 0) - 1, mostInteger + 1, 1e300]
          return [...notFinite, 1.5, ...outside].map((value) => trial(place, value))
        })
      ))
    test(`${operation}: a number may be the lowest and the highest of its range`, (store) =>
      takes(
        store,
        places.flatMap((place) => [trial(place, mostInteger), trial(place, place.least ?? 0)])
      ))
  }

  for (const [operation, places] of byOperation(momentPlaces)) {
    test(`${operation}: a moment that no Date can hold is refused`, (store) =>
      refuses(
        store,
        places.flatMap((place) => [...notFinite, 8.64e15 + 1, -8.64e15 - 1].map((value) => trial(place, value)))
      ))
    test(`${operation}: a moment may be the first and the last of a Date`, (store) =>
      takes(
        store,
        places.flatMap((place) => [trial(place, 8.64e15), trial(place, -8.64e15)])
      ))
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
    refuses(store, [trial(wholeSchedule({ cron: "0 9 * * *", everyMs: 1000 }), undefined)]))

  test("a schedule with neither cron nor everyMs is refused", (store) =>
    refuses(store, [trial(wholeSchedule({ cron: undefined, everyMs: undefined }), undefined)]))

  test("a cron expression that is not understood is refused", (store) =>
    refuses(
      store,
      ["often", "61 * * * *", "* * * *", "0 9 * * MON-"].map((text) =>
        trial(
          inSchedule("cron", (cron: string) => ({ cron, everyMs: undefined })),
          text
        )
      )
    ))

  test("a time zone that is not known is refused, also beside everyMs", (store) =>
    refuses(store, [
      trial(
        inSchedule("tz", (tz: string) => ({ cron: "0 9 * * *", everyMs: undefined, tz })),
        "Mars/Olympus"
      ),
      trial(
        inSchedule("tz", (tz: string) => ({ everyMs: 1000, tz })),
        "Mars/Olympus"
      )
    ]))

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
