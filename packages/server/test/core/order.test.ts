/** The order of texts, cursors, and where a page ends. */
import { Result } from "effect"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { compareText, decodeChildCursor, decodeCursor, encodeChildCursor, encodeCursor } from "../../src/core/Order.ts"
import { takePage } from "../../src/core/Page.ts"
import { property } from "./support/property.ts"

const text = fc.string({ unit: "grapheme" })

const codePoints = (value: string): ReadonlyArray<number> => Array.from(value, (point) => point.codePointAt(0) ?? 0)

const byCodePoints = (one: string, other: string): number => {
  const [ones, others] = [codePoints(one), codePoints(other)]
  const index = ones.findIndex((point, at) => point !== others[at])
  return index < 0 ? ones.length - others.length : (ones[index] ?? 0) - (others[index] ?? -1)
}

describe("the order of texts", () => {
  property("is that of Unicode code points", fc.tuple(text, text), ([one, other]) => {
    assert.strictEqual(Math.sign(compareText(one, other)), Math.sign(byCodePoints(one, other)))
  })

  it("puts characters beyond U+FFFF after all others", () => {
    assert.isAbove(compareText("\u{1f600}", "\uffee"), 0)
    assert.isBelow(compareText("a\u{1f600}", "a\u{1f601}"), 0)
  })
})

describe("a cursor", () => {
  const position = fc.record({ value: fc.integer(), id: text })

  property("gives back its position", position, (given) => {
    const cursor = encodeCursor("runAt", "asc", given)
    assert.deepStrictEqual(decodeCursor(cursor, "runAt", "asc"), Result.succeed(given))
  })

  property("of children gives back its key", text, (key) => {
    assert.deepStrictEqual(decodeChildCursor(encodeChildCursor(key)), Result.succeed(key))
  })

  property("that nobody gave is refused", fc.string(), (cursor) => {
    assert.isTrue(Result.isFailure(decodeCursor(cursor, "runAt", "asc")))
    assert.isTrue(Result.isFailure(decodeChildCursor(cursor)))
  })

  it("of another order is refused, and the message says which", () => {
    const refused = decodeCursor(encodeCursor("runAt", "asc", { value: 1, id: "a" }), "runAt", "desc")
    if (Result.isSuccess(refused)) return assert.fail("the cursor was accepted")
    assert.include(refused.failure.message, "runAt asc")
    assert.deepStrictEqual(refused.failure.reason, { _tag: "InvalidArgument", field: "options.cursor" })
  })
})

const page = (sizes: ReadonlyArray<number>, length: number, bytes: number) =>
  takePage(sizes, { length, bytes }, (size) => size)

describe("a page", () => {
  it("ends at its length, and says whether more follow", () => {
    assert.deepStrictEqual(page([1, 1, 1], 2, 100), { items: [1, 1], more: true })
    assert.deepStrictEqual(page([1, 1], 2, 100), { items: [1, 1], more: false })
    assert.deepStrictEqual(page([], 2, 100), { items: [], more: false })
  })

  it("ends before it passes its bytes", () => {
    assert.deepStrictEqual(page([40, 60, 1], 10, 100), { items: [40, 60], more: true })
    assert.deepStrictEqual(page([40, 61], 10, 100), { items: [40], more: true })
  })

  it("has one row at least, whatever its size", () => {
    assert.deepStrictEqual(page([500, 1], 10, 100), { items: [500], more: true })
  })
})
