/** Reading and emptying the outbox. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import * as Json from "../Json.ts"
import * as Limits from "../Limits.ts"
import type { OutboxEntry } from "../Flow.ts"
import { addParent, applied, flow, isParent, parentLink, settled } from "./flowKit.ts"
import * as Kit from "./kit.ts"

/** Lets children with these keys end, one after another, and gives their entries. */
const addEnded = Effect.fnUntraced(function* (store: Kit.Store, keys: ReadonlyArray<string>) {
  for (const key of keys) yield* store.cancel(yield* Kit.add(store, { parent: parentLink("parent", key) }))
  return yield* store.peekOutbox({ limit: 1000 })
})

const keysOf = (entries: ReadonlyArray<OutboxEntry>): ReadonlyArray<string> =>
  entries.map((entry) => entry.report.childKey)

/** Asserts the child keys that a peek gives, in order. */
const peeks = Effect.fnUntraced(function* (
  store: Kit.Store,
  options: { limit: number; after?: string | undefined },
  expected: ReadonlyArray<string>
) {
  assert.deepStrictEqual(keysOf(yield* store.peekOutbox(options)), expected, `peekOutbox(${JSON.stringify(options)})`)
})

/** The id of the entry at a place. */
const idAt = (entries: ReadonlyArray<OutboxEntry>, index: number): string => {
  const entry = entries[index]
  return entry === undefined ? assert.fail(`there is no entry ${index}`) : entry.id
}

const peeking = (test: Kit.Test) => {
  test("an empty outbox gives nothing", (store) => peeks(store, { limit: 10 }, []))

  test("entries come oldest first, whatever their keys", (store) =>
    Effect.gen(function* () {
      const keys = ["c", "a", "b", "10", "9", "z", "y", "x", "w", "v", "u", "t"]
      yield* addEnded(store, keys)
      yield* peeks(store, { limit: 100 }, keys)
    }))

  test("limit bounds the entries", (store) =>
    Effect.gen(function* () {
      yield* addEnded(store, ["a", "b", "c"])
      yield* peeks(store, { limit: 1 }, ["a"])
      yield* peeks(store, { limit: 2 }, ["a", "b"])
      yield* peeks(store, { limit: 3 }, ["a", "b", "c"])
    }))

  test("a peek takes nothing away", (store) =>
    Effect.gen(function* () {
      const first = yield* addEnded(store, ["a", "b"])
      assert.deepStrictEqual(yield* store.peekOutbox({ limit: 1000 }), first)
    }))

  test("after gives the entries behind that one", (store) =>
    Effect.gen(function* () {
      const entries = yield* addEnded(store, ["a", "b", "c", "d"])
      yield* peeks(store, { limit: 2, after: idAt(entries, 0) }, ["b", "c"])
      yield* peeks(store, { limit: 10, after: idAt(entries, 1) }, ["c", "d"])
      yield* peeks(store, { limit: 10, after: idAt(entries, 3) }, [])
    }))

  test("after works also when that entry is gone", (store) =>
    Effect.gen(function* () {
      const entries = yield* addEnded(store, ["a", "b", "c", "d"])
      yield* store.deleteOutbox([idAt(entries, 0), idAt(entries, 1)])
      yield* peeks(store, { limit: 10, after: idAt(entries, 0) }, ["c", "d"])
      yield* peeks(store, { limit: 10, after: idAt(entries, 1) }, ["c", "d"])
      yield* peeks(store, { limit: 10, after: idAt(entries, 2) }, ["d"])
    }))

  test("after works when all entries are gone: what comes later comes behind it", (store) =>
    Effect.gen(function* () {
      const entries = yield* addEnded(store, ["a", "b"])
      yield* store.deleteOutbox(entries.map((entry) => entry.id))
      const after = idAt(entries, 1)
      yield* peeks(store, { limit: 10, after }, [])
      const later = yield* addEnded(store, ["c", "d"])
      yield* peeks(store, { limit: 10, after }, ["c", "d"])
      const ids = [...entries, ...later].map((entry) => entry.id)
      assert.strictEqual(new Set(ids).size, 4, "an id was given twice")
    }))

  test("an unknown after counts as unset", (store) =>
    Effect.gen(function* () {
      yield* addEnded(store, ["a", "b"])
      for (const after of ["unknown", "\u{1f600}", "{}"]) yield* peeks(store, { limit: 10, after }, ["a", "b"])
    }))

  test("walking by after gives every entry once, also while entries are deleted and added", (store) =>
    Effect.gen(function* () {
      yield* addEnded(store, ["a", "b", "c", "d", "e"])
      const seen: Array<string> = []
      let after: string | undefined
      while (true) {
        const page: ReadonlyArray<OutboxEntry> = yield* store.peekOutbox({ limit: 2, after })
        if (page.length === 0) break
        seen.push(...keysOf(page))
        after = idAt(page, page.length - 1)
        yield* store.deleteOutbox([idAt(page, 0)])
        if (seen.length === 4) yield* addEnded(store, ["f"])
        if (seen.length > 10) return assert.fail("the walk does not end")
      }
      assert.deepStrictEqual(seen, ["a", "b", "c", "d", "e", "f"])
      yield* peeks(store, { limit: 10 }, ["b", "d", "f"])
    }))

  test("an answer ends before its exits pass the documented number of bytes; after gives the rest", (store) =>
    Effect.gen(function* () {
      const exit = "x".repeat(Limits.defaults.exitBytes - 2)
      const keys = ["a", "b", "c", "d", "e", "f"]
      for (const key of keys) {
        const { id, token } = yield* Kit.addAndTake(store, { parent: parentLink("parent", key) })
        yield* store.ack(id, token, Kit.complete(exit))
      }
      const seen: Array<string> = []
      let after: string | undefined
      while (seen.length < keys.length) {
        const page: ReadonlyArray<OutboxEntry> = yield* store.peekOutbox({ limit: 1000, after })
        assert.isNotEmpty(page)
        const bytes = page.reduce((sum, entry) => sum + Json.byteLength(entry.report.exit), 0)
        assert.isAtMost(bytes, Limits.defaults.pageBytes)
        seen.push(...keysOf(page))
        after = idAt(page, page.length - 1)
      }
      assert.deepStrictEqual(seen, keys)
    }))

  test("a limit that is not a whole number from 1 is refused", (store) =>
    Effect.gen(function* () {
      yield* addEnded(store, ["a"])
      for (const limit of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        const { field } = yield* Kit.refusedFor(store.peekOutbox({ limit }), "InvalidArgument")
        assert.strictEqual(field, "options.limit")
      }
    }))
}

const deleting = (test: Kit.Test) => {
  test("deleteOutbox takes exactly the entries that are named", (store) =>
    Effect.gen(function* () {
      const entries = yield* addEnded(store, ["a", "b", "c", "d"])
      yield* store.deleteOutbox([idAt(entries, 2), idAt(entries, 0)])
      yield* peeks(store, { limit: 10 }, ["b", "d"])
    }))

  test("deleteOutbox is idempotent, and ignores unknown ids", (store) =>
    Effect.gen(function* () {
      const entries = yield* addEnded(store, ["a", "b"])
      yield* store.deleteOutbox([])
      yield* store.deleteOutbox(["unknown", "\u{1f600}", "0", "-1"])
      yield* peeks(store, { limit: 10 }, ["a", "b"])
      yield* store.deleteOutbox([idAt(entries, 0), "unknown", idAt(entries, 0)])
      yield* store.deleteOutbox([idAt(entries, 0)])
      yield* peeks(store, { limit: 10 }, ["b"])
    }))

  test("an entry stays until it is deleted, whatever becomes of its job", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.addFinished(store, "failed", { parent: parentLink("parent", "a") })
      yield* store.retry(id)
      yield* peeks(store, { limit: 10 }, ["a"])
      yield* store.cancel(id)
      yield* store.remove(id)
      yield* peeks(store, { limit: 10 }, ["a", "a"])
    }))

  test("a report may be delivered again after a crash: the rows of the parent count it once", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, ["a", "b"], { fields: { id: "parent" } })
      const entries = yield* addEnded(store, ["a", "b"])
      const reports = entries.map((entry) => entry.report)
      assert.deepStrictEqual(yield* store.recordChildResults(reports), [applied, settled])
      const again = yield* store.recordChildResults(reports)
      assert.isTrue(again.every((answer) => !answer.applied && !answer.parentSettled))
      yield* store.deleteOutbox(entries.map((entry) => entry.id))
      yield* isParent(store, id, "waiting", flow({ cancelled: 2 }))
      yield* peeks(store, { limit: 10 }, [])
    }))

  test("ends that come at once append one entry each", (store) =>
    Effect.gen(function* () {
      const keys = Array.from({ length: 30 }, (_, index) => `key-${index}`)
      const ids = yield* Effect.forEach(keys, (key) => Kit.add(store, { parent: parentLink("parent", key) }))
      yield* Effect.forEach(ids, (id) => store.cancel(id), { concurrency: "unbounded" })
      const entries = yield* store.peekOutbox({ limit: 100 })
      assert.sameMembers([...keysOf(entries)], keys)
      assert.strictEqual(new Set(entries.map((entry) => entry.id)).size, 30)
    }))
}

export const outboxDelivery = (test: Kit.Test) => {
  describe("outbox: peekOutbox", () => {
    peeking(test)
  })
  describe("outbox: deleteOutbox", () => {
    deleting(test)
  })
}
