/** Looking at jobs: filters and order. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { ListOptions } from "../List.ts"
import { addParent } from "./flowKit.ts"
import * as Kit from "./kit.ts"
import { states } from "./stateKit.ts"

/** Asserts the ids that a list gives, in order. */
const lists = Effect.fnUntraced(function* (store: Kit.Store, options: ListOptions, expected: ReadonlyArray<string>) {
  const { items } = yield* store.list(options)
  assert.deepStrictEqual(
    items.map((job) => job.id),
    expected,
    `list(${JSON.stringify(options)})`
  )
})

/** One job in each of the seven states, each under its state as id; two more are waiting. */
const addOneOfEach = Effect.fnUntraced(function* (store: Kit.Store) {
  yield* Kit.addFinished(store, "completed", { id: "completed" })
  yield* Kit.addFinished(store, "failed", { id: "failed" })
  yield* Kit.addFinished(store, "cancelled", { id: "cancelled" })
  yield* addParent(store, ["a"], { fields: { id: "waiting-children" } })
  yield* Kit.addAndTake(store, { id: "active" })
  yield* Kit.add(store, { id: "delayed", delayMs: 60_000 })
  yield* Kit.addAll(store, ["waiting", "waiting-2"])
})

const filters = (test: Kit.Test) => {
  test("an empty store lists nothing and gives no cursor", (store) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* store.list({}), { items: [], cursor: undefined })
    }))

  test("items are the complete records that getJob gives, in every state", (store) =>
    Effect.gen(function* () {
      yield* addOneOfEach(store)
      const { items } = yield* store.list({})
      assert.lengthOf(items, 8)
      for (const item of items) assert.deepStrictEqual(item, yield* Kit.find(store, item.id))
    }))

  test("queue: jobs of that queue only", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a1", "a2"], { queue: "a" })
      yield* Kit.addAll(store, ["b1"], { queue: "b" })
      yield* lists(store, { queue: "a", order: "asc" }, ["a1", "a2"])
      yield* lists(store, { queue: "b" }, ["b1"])
      yield* lists(store, { queue: "c" }, [])
    }))

  test("name: jobs of that name only", (store) =>
    Effect.gen(function* () {
      yield* Kit.addAll(store, ["a1", "a2"], { name: "a" })
      yield* Kit.addAll(store, ["b1"], { name: "b" })
      yield* lists(store, { name: "a", order: "asc" }, ["a1", "a2"])
      yield* lists(store, { name: "b" }, ["b1"])
      yield* lists(store, { name: "c" }, [])
    }))

  test("states: one state lists exactly the jobs in it", (store) =>
    Effect.gen(function* () {
      yield* addOneOfEach(store)
      for (const state of states) {
        yield* lists(store, { states: [state], order: "asc" }, state === "waiting" ? ["waiting", "waiting-2"] : [state])
      }
    }))

  test("states: several states list the jobs in any of them, and a repeated one counts once", (store) =>
    Effect.gen(function* () {
      yield* addOneOfEach(store)
      yield* lists(store, { states: ["delayed", "failed", "delayed"], order: "asc" }, ["delayed", "failed"])
      yield* lists(store, { states, order: "asc" }, [...states, "waiting-2"].toSorted())
    }))

  test("states: an empty list matches nothing", (store) =>
    Effect.gen(function* () {
      yield* addOneOfEach(store)
      assert.deepStrictEqual(yield* store.list({ states: [] }), { items: [], cursor: undefined })
    }))

  test("metadata: every given entry must be equal, and a job may have more", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "both", metadata: { tenant: "acme", tier: "gold" } })
      yield* Kit.add(store, { id: "other", metadata: { tenant: "acme", tier: "tin" } })
      yield* Kit.add(store, { id: "case", metadata: { tenant: "Acme" } })
      yield* Kit.add(store, { id: "none" })
      yield* lists(store, { metadata: { tenant: "acme" }, order: "asc" }, ["both", "other"])
      yield* lists(store, { metadata: { tenant: "acme", tier: "gold" } }, ["both"])
      yield* lists(store, { metadata: { tenant: "acme", tier: "" } }, [])
      yield* lists(store, { metadata: { tenant: "acme", region: "eu" } }, [])
      yield* lists(store, { metadata: {}, order: "asc" }, ["both", "case", "none", "other"])
    }))

  test("metadata: an entry with an empty value differs from no entry", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "empty", metadata: { note: "" } })
      yield* Kit.add(store, { id: "none" })
      yield* lists(store, { metadata: { note: "" } }, ["empty"])
    }))

  test("metadata: entries with names that every object inherits match a job's own only", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "own", metadata: { constructor: "x", toString: "y" } })
      yield* Kit.add(store, { id: "none" })
      yield* lists(store, { metadata: { constructor: "x", toString: "y" } }, ["own"])
      yield* lists(store, { metadata: { constructor: String(Object) } }, [])
    }))

  test("all filters must hold at once", (store) =>
    Effect.gen(function* () {
      const fields = { queue: "a", name: "n", metadata: { k: "v" } }
      yield* Kit.add(store, { ...fields, id: "match" })
      yield* Kit.add(store, { ...fields, id: "queue", queue: "b" })
      yield* Kit.add(store, { ...fields, id: "name", name: "m" })
      yield* Kit.add(store, { ...fields, id: "metadata", metadata: { k: "w" } })
      yield* Kit.add(store, { ...fields, id: "state", delayMs: 1000 })
      yield* lists(store, { ...fields, states: ["waiting"] }, ["match"])
      yield* lists(store, { queue: "a", name: "n", states: ["waiting", "delayed"], order: "asc" }, [
        "match",
        "metadata",
        "state"
      ])
    }))

  test("a list shows what the operations before it did", (store) =>
    Effect.gen(function* () {
      yield* Kit.add(store, { id: "job" })
      yield* lists(store, { states: ["waiting"] }, ["job"])
      const { token } = yield* Kit.take(store)
      yield* lists(store, { states: ["waiting"] }, [])
      yield* lists(store, { states: ["active"] }, ["job"])
      yield* store.ack("job", token, Kit.complete())
      yield* lists(store, { states: ["active"] }, [])
      yield* lists(store, { states: ["completed"] }, ["job"])
      yield* store.remove("job")
      yield* lists(store, {}, [])
    }))
}

/** Three delayed jobs that stand in another order by each of the three times once they are cancelled. */
const addThree = Effect.fnUntraced(function* (store: Kit.Store) {
  yield* Kit.add(store, { id: "first", delayMs: 50_000 })
  yield* Kit.pass(1000)
  yield* Kit.add(store, { id: "second", delayMs: 10_000 })
  yield* Kit.pass(1000)
  yield* Kit.add(store, { id: "third", delayMs: 20_000 })
  for (const id of ["second", "first", "third"]) {
    yield* Kit.pass(1000)
    yield* store.cancel(id)
  }
})

const orders = (test: Kit.Test) => {
  test("unless given, orderBy is enqueuedAt and order is desc: the newest first", (store) =>
    Effect.gen(function* () {
      yield* addThree(store)
      yield* lists(store, {}, ["third", "second", "first"])
      yield* lists(store, { order: "asc" }, ["first", "second", "third"])
      yield* lists(store, { orderBy: "runAt" }, ["first", "third", "second"])
    }))

  const expected = {
    enqueuedAt: ["first", "second", "third"],
    runAt: ["second", "third", "first"],
    finishedAt: ["second", "first", "third"]
  } as const

  for (const orderBy of ["enqueuedAt", "runAt", "finishedAt"] as const) {
    test(`orderBy ${orderBy}: asc gives the lowest first, desc the highest`, (store) =>
      Effect.gen(function* () {
        yield* addThree(store)
        yield* lists(store, { orderBy, order: "asc" }, expected[orderBy])
        yield* lists(store, { orderBy, order: "desc" }, expected[orderBy].toReversed())
        yield* lists(store, { orderBy, order: "asc", name: Kit.name, queue: Kit.queue }, expected[orderBy])
      }))

    test(`orderBy ${orderBy}: ties go by id in the same direction`, (store) =>
      Effect.gen(function* () {
        yield* Kit.addAll(store, ["b", "d", "a", "c"], { delayMs: 5000 })
        for (const id of ["c", "a", "b", "d"]) yield* store.cancel(id)
        yield* lists(store, { orderBy, order: "asc" }, ["a", "b", "c", "d"])
        yield* lists(store, { orderBy, order: "desc" }, ["d", "c", "b", "a"])
      }))
  }

  test("orderBy finishedAt: jobs that have not finished count as 0", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "completed", { id: "m-finished" })
      yield* Kit.addAll(store, ["z-waiting", "a-waiting"])
      yield* lists(store, { orderBy: "finishedAt", order: "asc" }, ["a-waiting", "z-waiting", "m-finished"])
      yield* lists(store, { orderBy: "finishedAt", order: "desc" }, ["m-finished", "z-waiting", "a-waiting"])
    }))

  test("ids are ordered by code points, without regard to language or case", (store) =>
    Effect.gen(function* () {
      // By UTF-16 units the emoji would come before the fullwidth tilde.
      const ascending = ["B", "a", "é", "\uff5e", "\u{1f600}"]
      yield* Kit.addAll(store, ["\u{1f600}", "a", "\uff5e", "B", "é"])
      yield* lists(store, { order: "asc" }, ascending)
      yield* lists(store, { order: "desc" }, ascending.toReversed())
    }))

  test("the latest place in time counts: a retried job has no finishedAt, a replaced one a new runAt", (store) =>
    Effect.gen(function* () {
      yield* Kit.addFinished(store, "failed", { id: "retried" })
      yield* store.retry("retried")
      yield* Kit.addFinished(store, "failed", { id: "failed", queue: "other" })
      yield* lists(store, { orderBy: "finishedAt", order: "asc" }, ["retried", "failed"])

      const dedupe = { key: "k", ttlMs: undefined, extend: false, replace: true }
      yield* Kit.add(store, { id: "replaced", delayMs: 1000, dedupe })
      yield* Kit.add(store, { id: "still", delayMs: 5000 })
      yield* lists(store, { states: ["delayed"], orderBy: "runAt", order: "asc" }, ["replaced", "still"])
      yield* store.enqueue(Kit.request({ delayMs: 9000, dedupe }))
      yield* lists(store, { states: ["delayed"], orderBy: "runAt", order: "asc" }, ["still", "replaced"])
    }))
}

export const list = (test: Kit.Test) => {
  describe("list: filters", () => {
    filters(test)
  })
  describe("list: order", () => {
    orders(test)
  })
}
