/** Long lists in parts. */
import { assert, describe, it } from "@effect/vitest"
import { chunksOf } from "../src/Chunks.ts"

const cut = (items: ReadonlyArray<number>, length: number, bytes: number) =>
  chunksOf(items, { length, bytes }, (item) => item)

describe("a list in parts", () => {
  it("is cut by length, and keeps its order", () => {
    assert.deepStrictEqual(cut([1, 2, 3, 4, 5], 2, 100), [[1, 2], [3, 4], [5]])
  })

  it("is cut by bytes, a part being as full as they allow", () => {
    assert.deepStrictEqual(cut([5, 5, 1, 9], 100, 10), [
      [5, 5],
      [1, 9]
    ])
  })

  it("gives an item that is too big a part of its own", () => {
    assert.deepStrictEqual(cut([1, 50, 1], 100, 10), [[1], [50], [1]])
  })

  it("has no part when it is empty", () => {
    assert.deepStrictEqual(cut([], 100, 10), [])
  })
})
