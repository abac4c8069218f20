/** Values come back exactly as they came, by every way in and every way out. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import type { EnqueueRequest } from "../Enqueue.ts"
import * as Limits from "../Limits.ts"
import { addParent, child, fanOut, parentLink, report } from "./flowKit.ts"
import * as Kit from "./kit.ts"
import { schedule } from "./schedules.ts"

/** A value and what to call it. */
interface Value {
  readonly what: string
  readonly value: unknown
}

const parsed = (text: string): unknown => JSON.parse(text)

const values: ReadonlyArray<Value> = [
  { what: "absent", value: undefined },
  { what: "null", value: null },
  { what: "booleans", value: [true, false] },
  { what: "false alone", value: false },
  { what: "0 alone", value: 0 },
  { what: "an empty string", value: "" },
  { what: "an empty list", value: [] },
  { what: "an empty object", value: {} },
  { what: "null in a list and in an object", value: [null, { a: null }] },
  { what: "a string that looks like JSON", value: '{"a":1}' },
  { what: "a string that is a number", value: "1" },
  { what: "the biggest exact integers", value: [9_007_199_254_740_991, -9_007_199_254_740_991] },
  { what: "sixteen digits", value: 1_234_567_890_123_456 },
  { what: "fractions", value: [0.1, 1 / 3, -1e-7, 1.7976931348623157e308, 5e-324] },
  { what: "big floats", value: [1e21, 123_456_789_012_345_680_000] },
  { what: "nested values", value: { a: [{ b: [[], [{ c: "d" }]] }] } },
  {
    what: "unicode",
    value: ["\u00e9", "e\u0301", "\u4e2d\u6587", "\u{1f469}\u200d\u{1f469}\u200d\u{1f467}", "\ufffd", "\ufeff"]
  },
  { what: "line and paragraph separators", value: "\u2028\u2029" },
  { what: "control characters and escapes", value: '\u0001\b\t\n\f\r\u001f\u007f"\\/' },
  { what: "keys with any characters", value: { "": 1, " ": 2, "a.b": 3, '"': 4, "\u{1f600}": 5, "0": 6, "\n": 7 } },
  {
    what: "keys that objects inherit",
    value: parsed('{"constructor":1,"toString":{"valueOf":null},"hasOwnProperty":[]}')
  },
  { what: "a key called __proto__", value: parsed('{"__proto__":{"admin":true},"a":{"__proto__":null}}') },
  { what: "something tagged", value: { _tag: "Some", _id: "Option", value: 1 } }
]

/** JSON text with sorted keys, which tells own keys from inherited ones and absent from null. */
const textOf = (value: unknown): string => {
  if (value === undefined) return "absent"
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${textOf(item)}`).join()}}`
}

/** A way through the store: puts a value in and gives what comes out. */
interface Way {
  readonly name: string
  readonly carry: (store: Kit.Store, value: unknown) => Effect.Effect<ReadonlyArray<unknown>, unknown>
}

// `Kit.request` would take an absent payload for one that was not given.
const requestWith = (payload: unknown, fields?: Partial<EnqueueRequest>): EnqueueRequest => ({
  ...Kit.request(fields),
  payload
})

/** The payload of a job, as each reading operation gives it; the claim last. */
const payloadsOf = Effect.fnUntraced(function* (store: Kit.Store, id: string) {
  const found = (yield* Kit.find(store, id)).payload
  const { items } = yield* store.list({})
  const listed = items.find((job) => job.id === id)
  const { job } = yield* Kit.take(store)
  assert.strictEqual(job.id, id)
  return [found, listed?.payload, job.payload]
})

const payloadWays: ReadonlyArray<Way> = [
  {
    name: "enqueue",
    carry: (store, value) => Effect.flatMap(store.enqueue(requestWith(value)), ({ id }) => payloadsOf(store, id))
  },
  {
    name: "enqueueMany",
    carry: Effect.fnUntraced(function* (store, value) {
      const [result] = yield* store.enqueueMany([requestWith(value)])
      return result === undefined ? [] : yield* payloadsOf(store, result.id)
    })
  },
  {
    name: "a replacing enqueue",
    carry: Effect.fnUntraced(function* (store, value) {
      const dedupe = { key: Kit.unique("key"), ttlMs: undefined, extend: false, replace: true }
      const id = yield* Kit.add(store, { dedupe, delayMs: 1000, payload: "before" })
      yield* store.enqueue(requestWith(value, { dedupe, delayMs: 1 }))
      yield* store.promote(id)
      return yield* payloadsOf(store, id)
    })
  },
  {
    name: "tickSchedule",
    carry: Effect.fnUntraced(function* (store, value) {
      const id = Kit.unique("tick")
      yield* store.upsertSchedule(schedule(id, { nextRunAt: Kit.start }))
      yield* store.tickSchedule(id, Kit.start, Kit.start + 1, requestWith(value, { id }))
      return yield* payloadsOf(store, id)
    })
  },
  {
    name: "a schedule",
    carry: Effect.fnUntraced(function* (store, value) {
      yield* store.upsertSchedule({ ...schedule("key", { nextRunAt: Kit.start }), payload: value })
      const [listed] = yield* store.listSchedules()
      const [due] = yield* store.dueSchedules()
      return [listed?.payload, due?.payload]
    })
  },
  {
    name: "the request of a child",
    carry: Effect.fnUntraced(function* (store, value) {
      const held = yield* Kit.addAndTake(store)
      const spec = child(held.id, "key")
      yield* store.ack(held.id, held.token, fanOut([{ ...spec, request: { ...spec.request, payload: value } }]))
      const { reconcile } = yield* store.flowSweepWork({ pendingAgeMs: 0 })
      yield* store.cancel(held.id)
      return [reconcile[0]?.children[0]?.request.payload]
    })
  }
]

/** The exit of a finished job, as each reading operation gives it. */
const exitsOf = Effect.fnUntraced(function* (store: Kit.Store, id: string) {
  const found = (yield* Kit.find(store, id)).exit
  const { items } = yield* store.list({})
  const [entry] = yield* store.getAttempts(id)
  const outbox = yield* store.peekOutbox({ limit: 100 })
  const reported = outbox.find((each) => each.report.childKey === id)
  assert.isDefined(reported)
  return [found, items.find((job) => job.id === id)?.exit, entry?.exit, reported?.report.exit]
})

/** A job with a parent, whose child key is its id. */
const addChild = (store: Kit.Store) => {
  const id = Kit.unique("job")
  return Kit.addAndTake(store, { id, parent: parentLink("far", id) })
}

const exitWays: ReadonlyArray<Way> = [
  {
    name: "ack Complete",
    carry: Effect.fnUntraced(function* (store, value) {
      const { id, token } = yield* addChild(store)
      yield* store.ack(id, token, Kit.complete(value))
      return yield* exitsOf(store, id)
    })
  },
  {
    name: "ack Fail",
    carry: Effect.fnUntraced(function* (store, value) {
      const { id, token } = yield* addChild(store)
      yield* store.ack(id, token, Kit.fail(value))
      return yield* exitsOf(store, id)
    })
  },
  {
    name: "ack Retry",
    carry: Effect.fnUntraced(function* (store, value) {
      const { id, token } = yield* addChild(store)
      yield* store.ack(id, token, Kit.again(1000, value))
      const [entry] = yield* store.getAttempts(id)
      return [entry?.exit]
    })
  },
  {
    name: "a report of a child",
    carry: Effect.fnUntraced(function* (store, value) {
      const { id } = yield* addParent(store, ["key"])
      yield* store.recordChildResults([{ ...report(id, "key", "completed"), exit: value }])
      yield* store.cancel(id)
      const { items } = yield* store.listChildResults(id)
      return [items[0]?.exit]
    })
  }
]

const exact = (test: Kit.Test, kind: string, ways: ReadonlyArray<Way>) => {
  for (const { carry, name } of ways) {
    test(`${kind} of ${name} comes back as it was, whatever the value`, (store) =>
      Effect.gen(function* () {
        for (const { value, what } of values) {
          const found = yield* carry(store, value)
          assert.isNotEmpty(found)
          for (const each of found) assert.strictEqual(textOf(each), textOf(value), what)
        }
      }))

    test(`${kind} of ${name}: -0 becomes 0`, (store) =>
      Effect.gen(function* () {
        for (const each of yield* carry(store, { n: -0 })) {
          // What comes out has the shape of what went in.
          assert.isTrue(Object.is((each as { n: number }).n, 0))
        }
      }))

    test(`${kind} of ${name} may be a mebibyte`, (store) =>
      Effect.gen(function* () {
        const value = "\u00e9".repeat((Limits.defaults.payloadBytes - 2) / 2)
        for (const each of yield* carry(store, value)) assert.isTrue(each === value, "it came back another")
      }))
  }
}

const metadata = (test: Kit.Test) => {
  const maps: ReadonlyArray<Record<string, string>> = [
    {},
    { "": "", " ": " " },
    { "a.b": "1", '"': "'", "\n": "\t", "\u{1f600}": "\u2028" },
    { constructor: "1", toString: "2", hasOwnProperty: "3" }
  ]

  test("metadata comes back as it was", (store) =>
    Effect.gen(function* () {
      for (const map of maps) {
        const { id } = yield* store.enqueue({ ...Kit.request(), metadata: map })
        assert.strictEqual(textOf((yield* Kit.find(store, id)).metadata), textOf(map))
        const { job } = yield* Kit.take(store)
        assert.strictEqual(textOf(job.metadata), textOf(map))
      }
    }))

  test("an entry called __proto__ is an entry like any other", (store) =>
    Effect.gen(function* () {
      // `JSON.parse` makes an own key of it.
      const map = parsed('{"__proto__":"x","a":"b"}') as Record<string, string>
      const { id } = yield* store.enqueue({ ...Kit.request(), metadata: map })
      yield* Kit.add(store)
      assert.strictEqual(textOf((yield* Kit.find(store, id)).metadata), textOf(map))
      const filter = parsed('{"__proto__":"x"}') as Record<string, string>
      assert.deepStrictEqual(
        (yield* store.list({ metadata: filter })).items.map((job) => job.id),
        [id]
      )
      yield* store.upsertSchedule({ ...schedule("key"), metadata: map })
      const [listed] = yield* store.listSchedules()
      assert.strictEqual(textOf(listed?.metadata), textOf(map))
      const held = yield* Kit.addAndTake(store, { queue: "parent" })
      const spec = child(held.id, "key")
      yield* store.ack(held.id, held.token, fanOut([{ ...spec, request: { ...spec.request, metadata: map } }]))
      const { reconcile } = yield* store.flowSweepWork({ pendingAgeMs: 0 })
      assert.strictEqual(textOf(reconcile[0]?.children[0]?.request.metadata), textOf(map))
    }))
}

const copies = (test: Kit.Test) => {
  test("what a caller does to its request after enqueue changes nothing in the store", (store) =>
    Effect.gen(function* () {
      const payload = { list: [1], deep: { a: "b" } }
      const metadata: Record<string, string> = { k: "v" }
      const { id } = yield* store.enqueue({ ...Kit.request(), payload, metadata })
      payload.list.push(2)
      payload.deep.a = "changed"
      metadata.k = "changed"
      yield* Kit.isJob(store, id, { payload: { list: [1], deep: { a: "b" } }, metadata: { k: "v" } })
    }))

  test("what a caller does to a record that it was given changes nothing in the store", (store) =>
    Effect.gen(function* () {
      const id = yield* Kit.add(store, { payload: { list: [1] }, metadata: { k: "v" } })
      const { items } = yield* store.list({})
      const { job } = yield* Kit.take(store)
      for (const record of [yield* Kit.find(store, id), items[0], job]) {
        // The store gave what was put in.
        const given = record as unknown as { payload: { list: Array<number> }; metadata: Record<string, string> }
        // A store may also give records that cannot be changed.
        Reflect.set(given.payload.list, 1, 2)
        Reflect.set(given.metadata, "k", "changed")
      }
      yield* Kit.isJob(store, id, { payload: { list: [1] }, metadata: { k: "v" } })
    }))

  test("what a worker does to an exit after its ack changes nothing in the store", (store) =>
    Effect.gen(function* () {
      const { id, token } = yield* Kit.addAndTake(store, { parent: parentLink("far", "key") })
      const exit = { list: [1] }
      yield* store.ack(id, token, Kit.complete(exit))
      exit.list.push(2)
      yield* Kit.isJob(store, id, { exit: { list: [1] } })
      yield* Kit.isLedger(store, id, [Kit.run(1, "completed", { exit: { list: [1] } })])
      const [entry] = yield* store.peekOutbox({ limit: 1 })
      assert.deepStrictEqual(entry?.report.exit, { list: [1] })
    }))
}

export const jsonValues = (test: Kit.Test) => {
  describe("values: payloads", () => {
    exact(test, "the payload", payloadWays)
  })
  describe("values: exits", () => {
    exact(test, "the exit", exitWays)
  })
  describe("values: metadata", () => {
    metadata(test)
  })
  describe("values: copies", () => {
    copies(test)
  })
}
