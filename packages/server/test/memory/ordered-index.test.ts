/** The ordered index against a sorted array. */
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { OrderedIndex } from "../../src/drivers/memory/OrderedIndex.ts"
import { property } from "../core/support/property.ts"

const ascending = (one: number, other: number) => one - other

/** An index with these numbers, put in one after another. */
const indexOf = (numbers: Iterable<number>): OrderedIndex<number> => {
  const index = new OrderedIndex<number>(ascending)
  for (const number of numbers) index.add(number)
  return index
}

const numbers = fc.uniqueArray(fc.integer({ min: 0, max: 5_000 }), { maxLength: 1_500, size: "max" })

describe("an ordered index", () => {
  property(
    "walks like a sorted array, whatever was put in and taken out",
    fc.tuple(numbers, fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 1, max: 5 })),
    ([added, from, every]) => {
      const index = indexOf(added)
      const removed = added.filter((_, position) => position % every === 0)
      for (const number of removed) assert.isTrue(index.delete(number))
      for (const number of removed) assert.isFalse(index.delete(number))
      const left = added.filter((_, position) => position % every !== 0).toSorted(ascending)
      assert.strictEqual(index.size, left.length)
      assert.strictEqual(index.first, left[0])
      assert.deepStrictEqual([...index.ascending()], left)
      assert.deepStrictEqual([...index.descending()], left.toReversed())
      const isBefore = (number: number) => number < from
      assert.deepStrictEqual(
        [...index.ascending(isBefore)],
        left.filter((number) => number >= from)
      )
      assert.deepStrictEqual([...index.descending(isBefore)], left.filter(isBefore).toReversed())
    },
    100
  )

  it("is empty when everything was taken out from the front", () => {
    const index = indexOf(Array.from({ length: 2_000 }, (_, number) => number))
    for (let number = 0; number < 2_000; number++) {
      assert.strictEqual(index.first, number)
      index.delete(number)
    }
    assert.strictEqual(index.size, 0)
    assert.isUndefined(index.first)
    assert.deepStrictEqual([...index.ascending(), ...index.descending()], [])
  })
})
