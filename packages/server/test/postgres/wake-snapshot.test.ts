/** Snapshots say the same as PostgreSQL's, and those that were cut short never say more. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { RecentEvents } from "../../src/drivers/postgres/wake/RecentEvents.ts"
import * as Snapshot from "../../src/drivers/postgres/wake/Snapshot.ts"
import { property } from "../core/support/property.ts"

const parsed = (text: string): Snapshot.Snapshot => {
  const snapshot = Snapshot.parse(text)
  if (snapshot === undefined) throw new Error(`${text} is no snapshot`)
  return snapshot
}

const reread = (snapshot: Snapshot.Snapshot, mostLength = Infinity): Snapshot.Snapshot => {
  const text = Snapshot.format(snapshot, mostLength)
  expect(text.length).toBeLessThanOrEqual(mostLength)
  expect(text).not.toContain(".")
  const read = Snapshot.read(text)
  if (read === undefined) throw new Error(`${text} cannot be read`)
  return read
}

/** What PostgreSQL would say at some moments: transactions begin and end in any order. */
const histories = fc.array(fc.nat(9), { minLength: 1, maxLength: 120 }).map((choices) => {
  let next = 1_000
  let latest = 999
  const open = new Set<number>()
  return choices.map((choice) => {
    if (choice < 5) open.add(next++)
    const ends = Array.from(open)[choice % Math.max(1, open.size)]
    if (choice > 3 && ends !== undefined) {
      open.delete(ends)
      latest = Math.max(latest, ends)
    }
    const running = Array.from(open).filter((number) => number <= latest)
    const lowest = Math.min(latest + 1, ...open)
    return { text: `${lowest}:${latest + 1}:${running.join()}`, open: new Set(open), latest }
  })
})

const numbers = Array.from({ length: 140 }, (_, index) => 990 + index)

describe("a snapshot", () => {
  it("is read from PostgreSQL's text, and nothing else", () => {
    expect(parsed("10:20:10,14,15")).toEqual({
      next: 20,
      open: [
        { first: 10, last: 10 },
        { first: 14, last: 15 }
      ]
    })
    expect(parsed("7:7:")).toEqual({ next: 7, open: [] })
    for (const text of ["", "1", "1:2", "1:2:x", "a:b:", "1:2:3;4"]) expect(Snapshot.parse(text)).toBeUndefined()
  })

  it("is not read from what is no token's position", () => {
    for (const text of ["", "_1", "1_", "1_2+", "A", "1 ", "1_9", "zzzzzzzzzzzzzzzz"]) {
      expect(Snapshot.read(text), text).toBeUndefined()
    }
  })

  property(
    "sees what had ended",
    histories,
    (moments) => {
      for (const { latest, open, text } of moments) {
        const snapshot = parsed(text)
        for (const number of numbers) {
          expect(Snapshot.sees(snapshot, number)).toBe(number <= latest && !open.has(number))
        }
      }
    },
    100
  )

  property(
    "covers those before it",
    histories,
    (moments) => {
      const snapshots = moments.map(({ text }) => parsed(text))
      for (const [index, later] of snapshots.entries()) {
        for (const earlier of snapshots.slice(0, index + 1)) {
          expect(Snapshot.covers(later, earlier)).toBe(true)
          const isSame = numbers.every((number) => Snapshot.sees(later, number) === Snapshot.sees(earlier, number))
          expect(Snapshot.covers(earlier, later)).toBe(isSame)
        }
      }
    },
    100
  )

  property(
    "survives its text",
    histories,
    (moments) => {
      for (const { text } of moments) expect(reread(parsed(text))).toEqual(parsed(text))
    },
    100
  )

  property(
    "that is cut short sees nothing more, and everything before the first open transaction",
    fc.tuple(
      fc.uniqueArray(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 400 }),
      fc.integer({ min: 30, max: 200 })
    ),
    ([open, mostLength]) => {
      const ascending = open.toSorted((one, other) => one - other)
      const whole = parsed(`${ascending[0]}:1000001:${ascending.join()}`)
      const short = reread(whole, mostLength)
      expect(short.next).toBe(whole.next)
      for (const number of [...open, ...open.map((number) => number + 1)]) {
        if (Snapshot.sees(short, number)) expect(Snapshot.sees(whole, number)).toBe(true)
      }
      expect(Snapshot.sees(short, (ascending[0] ?? 0) - 1)).toBe(true)
      expect(Snapshot.covers(whole, short)).toBe(true)
    },
    200
  )

  it("that is cut short keeps an old transaction apart from the young ones", () => {
    const young = Array.from({ length: 500 }, (_, index) => 9_000_000 + 3 * index)
    const short = reread(parsed(`17:9001500:17,${young.join()}`), 200)
    expect(Snapshot.sees(short, 17)).toBe(false)
    for (const number of [18, 5_000_000, 8_999_999]) expect(Snapshot.sees(short, number)).toBe(true)
  })
})

describe("recent events", () => {
  const happenings = fc.array(
    fc.record({
      queue: fc.constantFrom("p", "q"),
      name: fc.constantFrom("a", "b", undefined),
      transaction: fc.integer({ min: 1_000, max: 1_060 })
    }),
    { maxLength: 40 }
  )

  property(
    "are news for a snapshot that does not see one of them, and after forgetting once more for those before the floor",
    fc.tuple(histories, happenings, happenings, fc.nat(), fc.nat()),
    ([moments, before, after, floorAt, tokenAt]) => {
      const floor = parsed(moments[floorAt % moments.length]?.text ?? "")
      const token = parsed(moments[tokenAt % moments.length]?.text ?? "")
      const events = new RecentEvents()
      for (const { name, queue, transaction } of before) events.record(7, queue, name, transaction)
      events.settle(floor)
      for (const { name, queue, transaction } of after) events.record(7, queue, name, transaction)
      const left = [...before.filter(({ transaction }) => !Snapshot.sees(floor, transaction)), ...after]
      expect(events.size).toBe(new Set(left.map((event) => Object.values(event).join())).size)
      for (const queue of ["p", "q"]) {
        for (const names of [["a"], ["a", "b"], [], undefined]) {
          const isUnseen = left.some(
            (event) =>
              event.queue === queue &&
              (event.name === undefined || names === undefined || names.includes(event.name)) &&
              !Snapshot.sees(token, event.transaction)
          )
          const expected = isUnseen || !Snapshot.covers(token, floor)
          expect(events.hasNews(7, [{ queue, names }], token)).toBe(expected)
          expect(events.hasNews(8, [{ queue, names }], token)).toBe(!Snapshot.covers(token, floor))
        }
      }
    },
    300
  )
})
