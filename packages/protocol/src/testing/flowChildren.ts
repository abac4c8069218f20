/** Looking at a flow's dependency rows page by page. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { FlowChildPage, FlowChildRecord } from "../Flow.ts"
import * as Json from "../Json.ts"
import * as Limits from "../Limits.ts"
import { addParent, applied, childId, childName, childStore, owed, records, report, row } from "./flowKit.ts"
import * as Kit from "./kit.ts"

/** Walks all pages, and gives the rows of each. */
const pagesOf = Effect.fnUntraced(function* (store: Kit.Store, flowId: string, limit?: number) {
  const pages: Array<ReadonlyArray<FlowChildRecord>> = []
  let cursor: string | undefined
  do {
    const page: FlowChildPage = yield* store.listChildResults(flowId, { cursor, limit })
    pages.push(page.items)
    cursor = page.cursor
    if (pages.length > 100) return assert.fail("the pages do not end")
  } while (cursor !== undefined)
  return pages
})

const keysOf = (rows: ReadonlyArray<FlowChildRecord>): ReadonlyArray<string> => rows.map((each) => each.childKey)

export const flowChildren = (test: Kit.Test) =>
  describe("flow: listChildResults", () => {
    test("an unknown flow, and a job that is no parent, have no rows and no cursor", (store) =>
      Effect.gen(function* () {
        const plain = yield* Kit.add(store)
        for (const id of ["unknown", plain]) {
          assert.deepStrictEqual(yield* store.listChildResults(id), { items: [], cursor: undefined })
        }
      }))

    test("a row has its flow, key, name, store, job, status, exit, reason and whether it is cascaded", (store) =>
      Effect.gen(function* () {
        const { id } = yield* addParent(store, ["a", "b"])
        yield* records(store, [report(id, "a", "failed", { exit: [1], failedReason: "stalled" })], [applied])
        yield* store.cancel(id)
        assert.deepStrictEqual(yield* store.listChildResults(id), {
          items: [
            {
              flowId: id,
              childKey: "a",
              name: childName,
              storeKey: childStore,
              childJobId: childId(id, "a"),
              status: "failed",
              exit: [1],
              failedReason: "stalled",
              cascaded: true
            },
            owed(id, "b")
          ],
          cursor: undefined
        })
      }))

    test("rows come by child key in the order of code points", (store) =>
      Effect.gen(function* () {
        // By UTF-16 units the emoji would come before the fullwidth tilde; by language "a" before "B".
        const keys = ["10", "9", "B", "a", "a b", "a.b", "aa", "e\u0301", "z", "\u00e9", "\uff5e", "\u{1f600}"]
        const shuffled = keys.toSorted((one, other) => one.length - other.length).toReversed()
        const { id } = yield* addParent(store, shuffled)
        for (const limit of [undefined, 1, 5]) {
          const pages = yield* pagesOf(store, id, limit)
          assert.deepStrictEqual(keysOf(pages.flat()), keys)
        }
      }))

    test("pages have the given length and lose and repeat nothing", (store) =>
      Effect.gen(function* () {
        const keys = ["a", "b", "c", "d", "e"]
        const { id } = yield* addParent(store, keys)
        yield* addParent(store, ["a", "c", "z"])
        for (const limit of [1, 2, 3, 5, 6]) {
          const pages = yield* pagesOf(store, id, limit)
          assert.deepStrictEqual(keysOf(pages.flat()), keys)
          for (const page of pages.slice(0, Math.floor(keys.length / limit))) assert.lengthOf(page, limit)
        }
      }))

    test("fewer rows than the limit come without a cursor", (store) =>
      Effect.gen(function* () {
        const { id } = yield* addParent(store, ["a", "b"])
        assert.isUndefined((yield* store.listChildResults(id, { limit: 3 })).cursor)
        assert.isUndefined((yield* store.listChildResults(id, {})).cursor)
      }))

    test("rows that settle between two pages keep their places", (store) =>
      Effect.gen(function* () {
        const { id } = yield* addParent(store, ["a", "b", "c", "d"])
        const first = yield* store.listChildResults(id, { limit: 2 })
        assert.deepStrictEqual(keysOf(first.items), ["a", "b"])
        yield* records(store, [report(id, "b", "completed"), report(id, "c", "completed")], [applied, applied])
        const second = yield* store.listChildResults(id, { limit: 2, cursor: first.cursor })
        assert.deepStrictEqual(second.items, [
          row(id, "c", { status: "completed", exit: { sum: 3 }, cascaded: true }),
          row(id, "d")
        ])
      }))

    test("a page has 1000 rows unless a limit is given, and never more", (store) =>
      Effect.gen(function* () {
        const keys = Array.from({ length: 1001 }, (_, index) => `key-${String(index).padStart(4, "0")}`)
        const { id } = yield* addParent(store, keys)
        for (const limit of [undefined, 1000, 5000]) {
          const pages = yield* pagesOf(store, id, limit)
          assert.deepStrictEqual(pages.map(keysOf), [keys.slice(0, 1000), keys.slice(1000)])
        }
      }))

    test("a page ends before its exits pass the documented number of bytes, and its cursor goes on", (store) =>
      Effect.gen(function* () {
        const keys = ["a", "b", "c", "d", "e", "f"]
        const { id } = yield* addParent(store, keys)
        const exit = "x".repeat(Limits.defaults.exitBytes - 2)
        yield* store.recordChildResults(keys.map((key) => report(id, key, "completed", { exit })))
        const pages = yield* pagesOf(store, id)
        assert.deepStrictEqual(keysOf(pages.flat()), keys)
        for (const page of pages) {
          assert.isNotEmpty(page)
          const bytes = page.reduce((sum, each) => sum + Json.byteLength(each.exit), 0)
          assert.isAtMost(bytes, Limits.defaults.pageBytes)
        }
      }))

    test("a limit that is not a whole number from 1 is refused", (store) =>
      Effect.gen(function* () {
        const { id } = yield* addParent(store, ["a"])
        for (const limit of [0, -1, 1.5, Number.NaN]) {
          const { field } = yield* Kit.refusedFor(store.listChildResults(id, { limit }), "InvalidArgument")
          assert.strictEqual(field, "options.limit")
        }
      }))

    test("an empty cursor is refused", (store) =>
      Effect.gen(function* () {
        const { id } = yield* addParent(store, ["a"])
        const { field } = yield* Kit.refusedFor(store.listChildResults(id, { cursor: "" }), "InvalidArgument")
        assert.strictEqual(field, "options.cursor")
      }))
  })
