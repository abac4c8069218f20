/** Looking at jobs page by page. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Json from "../Json.ts"
import * as Limits from "../Limits.ts"
import type { JobRecord } from "../Job.ts"
import type { ListOptions } from "../List.ts"
import * as Kit from "./kit.ts"

/** Walks all pages, and gives the records of each. */
const pagesOf = Effect.fnUntraced(function* (store: Kit.Store, options: ListOptions) {
  const pages: Array<ReadonlyArray<JobRecord>> = []
  let cursor: string | undefined
  do {
    const page: { readonly items: ReadonlyArray<JobRecord>; readonly cursor: string | undefined } = yield* store.list({
      ...options,
      cursor
    })
    pages.push(page.items)
    cursor = page.cursor
    if (pages.length > 200) return assert.fail("the pages do not end")
  } while (cursor !== undefined)
  return pages
})

const idsOf = (jobs: ReadonlyArray<JobRecord>): ReadonlyArray<string> => jobs.map((job) => job.id)

/** Asserts that the pages together give these ids, each page but the last as long as the limit. */
const pagesGive = Effect.fnUntraced(function* (
  store: Kit.Store,
  options: ListOptions & { readonly limit: number },
  expected: ReadonlyArray<string>
) {
  const pages = yield* pagesOf(store, options)
  const told = `pages of list(${JSON.stringify(options)})`
  assert.deepStrictEqual(idsOf(pages.flat()), expected, told)
  const full = Math.floor(expected.length / options.limit)
  for (const page of pages.slice(0, full)) assert.lengthOf(page, options.limit, told)
})

const orderings = (["enqueuedAt", "runAt", "finishedAt"] as const).flatMap((orderBy) =>
  (["asc", "desc"] as const).map((order) => ({ orderBy, order }))
)

const pages = (test: Kit.Test) => {
  for (const ordering of orderings) {
    test(`by ${ordering.orderBy} ${ordering.order}: pages lose and repeat nothing, also when all times tie`, (store) =>
      Effect.gen(function* () {
        const ids = ["a", "b", "c", "d", "e", "f", "g"]
        yield* Kit.addAll(store, ids.toReversed(), { delayMs: 1000 })
        yield* Effect.forEach(ids, (id) => store.cancel(id))
        const expected = ordering.order === "asc" ? ids : ids.toReversed()
        for (const limit of [1, 2, 3, 7, 8]) yield* pagesGive(store, { ...ordering, limit }, expected)
      }))

    test(`by ${ordering.orderBy} ${ordering.order}: pages lose and repeat nothing when some times tie`, (store) =>
      Effect.gen(function* () {
        // Ids against the order of time, two to a moment.
        for (const pair of [
          ["e", "f"],
          ["c", "d"],
          ["a", "b"]
        ]) {
          yield* Kit.addAll(store, pair, { delayMs: 1000 })
          yield* Effect.forEach(pair, (id) => store.cancel(id))
          yield* Kit.pass(10)
        }
        const ascending = ["e", "f", "c", "d", "a", "b"]
        const expected = ordering.order === "asc" ? ascending : ascending.toReversed()
        for (const limit of [1, 2, 3, 4, 5]) yield* pagesGive(store, { ...ordering, limit }, expected)
      }))
  }

  test("the filters hold on every page", (store) =>
    Effect.gen(function* () {
      for (const n of ["1", "2", "3", "4", "5"]) {
        yield* Kit.add(store, { id: `match-${n}`, metadata: { k: "v" } })
        yield* Kit.add(store, { id: `other-${n}`, metadata: { k: "w" } })
        yield* Kit.add(store, { id: `queue-${n}`, metadata: { k: "v" }, queue: "other" })
      }
      const matches = ["match-1", "match-2", "match-3", "match-4", "match-5"]
      const filter = { queue: Kit.queue, metadata: { k: "v" }, states: ["waiting"] } as const
      yield* pagesGive(store, { ...filter, order: "asc", limit: 2 }, matches)
    }))

  test("jobs without finishedAt and jobs with it follow each other across pages", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "completed", { id: "done-1" })
      yield* Kit.pass(1)
      yield* Kit.addFinished(store, "completed", { id: "done-2" })
      yield* Kit.addAll(store, ["open-2", "open-1"])
      const ascending = ["open-1", "open-2", "done-1", "done-2"]
      yield* pagesGive(store, { orderBy: "finishedAt", order: "asc", limit: 1 }, ascending)
      yield* pagesGive(store, { orderBy: "finishedAt", order: "desc", limit: 1 }, ascending.toReversed())
    }))

  test("pages walk over ids with any characters", (store) =>
    Effect.gen(function* () {
      const ids = [" ", '"', "%00", "0:1", "1,2", "[1]", "a\nb", "a\\b", "a|b", "{}", "\u2028", "\u{1f600}"]
      yield* Kit.addAll(store, ids)
      yield* pagesGive(store, { order: "asc", limit: 1 }, ids)
      yield* pagesGive(store, { order: "desc", limit: 1 }, ids.toReversed())
    }))

  test("jobs that come between two pages push no other job out", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["b", "d", "f", "h"])
      const first = yield* store.list({ limit: 2 })
      assert.deepStrictEqual(idsOf(first.items), ["h", "f"])
      yield* Kit.addAll(store, ["g", "z"])
      yield* Kit.pass(1)
      yield* Kit.add(store, { id: "newest" })
      const second = yield* store.list({ limit: 2, cursor: first.cursor })
      assert.deepStrictEqual(idsOf(second.items), ["d", "b"])
    }))

  test("the job that a cursor stands behind may be gone", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c", "d"])
      const first = yield* store.list({ order: "asc", limit: 2 })
      yield* store.remove("b")
      const second = yield* store.list({ order: "asc", limit: 2, cursor: first.cursor })
      assert.deepStrictEqual(idsOf(second.items), ["c", "d"])
    }))

  test("a cursor gives its page as often as it is used, and with another limit", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c", "d", "e"])
      const { cursor } = yield* store.list({ order: "asc", limit: 1 })
      for (const limit of [2, 2, 4]) {
        const page = yield* store.list({ order: "asc", limit, cursor })
        assert.deepStrictEqual(idsOf(page.items), ["b", "c", "d", "e"].slice(0, limit))
      }
    }))
}

const sizes = (test: Kit.Test) => {
  test("a page has 50 jobs unless a limit is given", (store) =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 51 }, (_, index) => `job-${String(index).padStart(2, "0")}`)
      yield* store.enqueueMany(ids.map((id) => Kit.request({ id })))
      const first = yield* store.list({ order: "asc" })
      assert.deepStrictEqual(idsOf(first.items), ids.slice(0, 50))
      assert.isString(first.cursor)
      const second = yield* store.list({ order: "asc", cursor: first.cursor })
      assert.deepStrictEqual(idsOf(second.items), ids.slice(50))
      assert.isUndefined(second.cursor)
    }))

  test("fewer jobs than the limit come without a cursor", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c"])
      const page = yield* store.list({ limit: 4 })
      assert.lengthOf(page.items, 3)
      assert.isUndefined(page.cursor)
    }))

  test("a page has at most the documented number of jobs, whatever the limit", (store) =>
    Effect.gen(function* () {
      const most = Limits.defaults.pageLength
      const ids = Array.from({ length: most + 1 }, (_, index) => `job-${String(index).padStart(5, "0")}`)
      yield* store.enqueueMany(ids.map((id) => Kit.request({ id, payload: undefined })))
      for (const limit of [most + 1, 2_147_483_647]) {
        const first = yield* store.list({ order: "asc", limit })
        assert.deepStrictEqual(idsOf(first.items), ids.slice(0, most))
        const second = yield* store.list({ order: "asc", limit, cursor: first.cursor })
        assert.deepStrictEqual(idsOf(second.items), ids.slice(most))
      }
    }))

  test("a page ends before its values pass the documented number of bytes, and its cursor goes on", (store) =>
    Effect.gen(function* () {
      const big = "x".repeat(Limits.defaults.payloadBytes - 2)
      const ids = ["a", "b", "c", "d", "e"]
      for (const id of ids) {
        const { token } = yield* Kit.addAndTake(store, { id, payload: big })
        yield* store.ack(id, token, Kit.complete(big))
      }
      const pages = yield* pagesOf(store, { order: "asc", limit: 50 })
      assert.deepStrictEqual(idsOf(pages.flat()), ids)
      for (const page of pages) {
        assert.isNotEmpty(page)
        const bytes = page.reduce((sum, job) => sum + Json.byteLength(job.payload) + Json.byteLength(job.exit), 0)
        assert.isAtMost(bytes, Limits.defaults.pageBytes)
      }
    }))
}

const refusals = (test: Kit.Test) => {
  test("a limit that is not a whole number from 1 is refused", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store)
      for (const limit of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        const { field } = yield* Kit.refusedFor(store.list({ limit }), "InvalidArgument")
        assert.strictEqual(field, "options.limit")
      }
    }))

  test("a cursor that the store did not give is refused, and gives no first page", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b"])
      for (const cursor of ["", "x", "not a cursor", "null", "{}", "[]", "0", "NaN:a", "\u{1f600}", "AAAA", "W10="]) {
        const { field } = yield* Kit.refusedFor(store.list({ cursor }), "InvalidArgument")
        assert.strictEqual(field, "options.cursor")
      }
    }))

  test("a cursor of another order is refused", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a", "b", "c"], { delayMs: 1000 })
      for (const given of orderings) {
        const { cursor } = yield* store.list({ ...given, limit: 1 })
        assert.isString(cursor)
        for (const other of orderings) {
          const next = store.list({ ...other, limit: 1, cursor })
          if (other === given) assert.deepStrictEqual(idsOf((yield* next).items), ["b"])
          else assert.strictEqual((yield* Kit.refusedFor(next, "InvalidArgument")).field, "options.cursor")
        }
      }
    }))
}

export const listPages = (test: Kit.Test) => {
  describe("list: pages", () => {
    pages(test)
  })
  describe("list: length of a page", () => {
    sizes(test)
  })
  describe("list: refusals", () => {
    refusals(test)
  })
}
