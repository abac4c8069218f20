/** Names, ids, keys and tokens with any characters: told apart exactly, and never mistaken for structure. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { addParent, applied, records, report, row, areRows } from "./flowKit.ts"
import * as Kit from "./kit.ts"
import { areSchedules, schedule } from "./schedules.ts"

/** Texts that something between the caller and the disk may stumble over. */
const texts: ReadonlyArray<string> = [
  " ",
  " a ",
  "A",
  "a",
  "\u00e9",
  "e\u0301",
  "\u{1f600}",
  "\ufffd",
  "\u2028",
  "\u0001",
  "\n",
  "a/b",
  "../a",
  "a?b=c#d",
  "%2F",
  "a:b",
  "a|b",
  "a,b",
  "{a}",
  "*",
  "a.*",
  "_",
  "%",
  "'; drop table job; --",
  '"quoted"',
  "back\\slash",
  "null",
  "undefined",
  "0",
  "01",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty"
]

/** Asserts that a store keeps all texts apart in one of its places: each is put there once, then looked for. */
const apart = (test: Kit.Test, what: string, body: (store: Kit.Store) => Effect.Effect<void, unknown>) =>
  test(`${what} may have any characters, and differ when one character does`, body)

const kinds = (test: Kit.Test) => {
  apart(test, "ids of jobs", (store) =>
    Effect.gen(function* () {
      for (const id of texts) yield* Kit.isGone(store, id)
      for (const id of texts) yield* Kit.add(store, { id, payload: id })
      for (const id of texts) {
        yield* Kit.isJob(store, id, { id, payload: id })
        assert.deepStrictEqual(yield* store.enqueue(Kit.request({ id })), { id, duplicate: true })
      }
      assert.deepStrictEqual(yield* Kit.takeAll(store), texts)
    })
  )

  apart(test, "queues", (store) =>
    Effect.gen(function* () {
      for (const queue of texts) yield* Kit.add(store, { queue, payload: queue })
      for (const queue of texts) {
        assert.strictEqual((yield* store.counts(queue)).waiting, 1)
        const { job } = yield* Kit.take(store, { queue })
        assert.deepStrictEqual([job.queue, job.payload], [queue, queue])
        yield* Kit.takeNothing(store, { queue })
      }
    })
  )

  apart(test, "names of jobs", (store) =>
    Effect.gen(function* () {
      for (const name of texts) yield* Kit.add(store, { name })
      for (const name of texts) {
        assert.lengthOf((yield* store.list({ name })).items, 1)
        const { job } = yield* Kit.take(store, { names: [name] })
        assert.strictEqual(job.name, name)
        yield* Kit.takeNothing(store, { names: [name] })
      }
    })
  )

  apart(test, "names of paused queues", (store) =>
    Effect.gen(function* () {
      for (const queue of texts) yield* store.pause(queue)
      assert.sameMembers([...(yield* store.pausedQueues())], [...texts])
      for (const queue of texts) yield* store.resume(queue)
      assert.deepStrictEqual(yield* store.pausedQueues(), [])
    })
  )

  apart(test, "dedupe keys", (store) =>
    Effect.gen(function* () {
      const keyed = (key: string) =>
        store.enqueue(Kit.request({ dedupe: { key, ttlMs: undefined, extend: false, replace: false } }))
      const ids = new Map<string, string>()
      for (const key of texts) {
        const { duplicate, id } = yield* keyed(key)
        assert.isFalse(duplicate, `key ${JSON.stringify(key)} is taken for another`)
        ids.set(key, id)
      }
      for (const key of texts) assert.deepStrictEqual(yield* keyed(key), { id: ids.get(key), duplicate: true })
      for (const key of texts) assert.isTrue(yield* store.cancelByDedupe(Kit.name, key))
      assert.strictEqual((yield* store.counts()).cancelled, texts.length)
    })
  )

  apart(test, "lock tokens", (store) =>
    Effect.gen(function* () {
      for (const [index, token] of texts.entries()) {
        const { id } = yield* Kit.addAndTake(store, {}, { token })
        for (const other of [texts.at(index - 1), texts[index + 1] ?? "other"]) {
          yield* Kit.failsWith(store.release(id, other ?? "other"), "LockLostError")
        }
        yield* store.ack(id, token, Kit.complete())
      }
    })
  )

  apart(test, "keys and groups of schedules", (store) =>
    Effect.gen(function* () {
      const all = texts.map((text) => schedule(text, { group: text }))
      for (const each of all) yield* store.upsertSchedule(each)
      yield* areSchedules(store, all)
      for (const text of texts) yield* areSchedules(store, [schedule(text, { group: text })], { group: text })
      for (const text of texts) assert.isTrue(yield* store.removeSchedule(text))
      yield* areSchedules(store, [])
    })
  )

  apart(test, "child keys", (store) =>
    Effect.gen(function* () {
      const { id } = yield* addParent(store, [...texts, "last"])
      for (const key of texts) {
        yield* records(store, [report(id, key, "completed", { exit: key })], [applied])
      }
      const { items } = yield* store.listChildResults(id)
      const found = new Map(items.map((item) => [item.childKey, item.exit]))
      assert.deepStrictEqual(found, new Map([...texts.map((key) => [key, key] as const), ["last", undefined] as const]))
    })
  )

  apart(test, "ids of flow parents", (store) =>
    Effect.gen(function* () {
      for (const id of texts) yield* addParent(store, ["a"], { fields: { id } })
      for (const id of texts) yield* areRows(store, id, [row(id, "a")])
    })
  )
}

const pairs = (test: Kit.Test) => {
  for (const between of [":", "/", "|", "\u0001", "\n", " ", ",", '","']) {
    test(`a name and a key are two things, also with ${JSON.stringify(between)} in them`, (store) =>
      Effect.gen(function* () {
        const enqueue = (name: string, key: string) =>
          store.enqueue(Kit.request({ name, dedupe: { key, ttlMs: undefined, extend: false, replace: false } }))
        assert.isFalse((yield* enqueue(`a${between}b`, "c")).duplicate)
        assert.isFalse((yield* enqueue("a", `b${between}c`)).duplicate)
        assert.isTrue((yield* enqueue("a", `b${between}c`)).duplicate)

        const one = yield* addParent(store, ["b"], { fields: { id: "a" } })
        const other = yield* addParent(store, ["c"], { fields: { id: `a${between}b` } })
        yield* areRows(store, one.id, [row(one.id, "b")])
        yield* areRows(store, other.id, [row(other.id, "c")])
      }))
  }
}

export const text = (test: Kit.Test) => {
  describe("texts", () => {
    kinds(test)
  })
  describe("texts side by side", () => {
    pairs(test)
  })
}
