/** What is kept in memory beside the tables: numbers, lanes, tallies, the next delayed. */
import { assert, describe, it } from "@effect/vitest"
import { JobStore } from "@jobwire/protocol"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { DatabaseSync } from "node:sqlite"
import type { Tables } from "../../src/drivers/embedded/Tables.ts"
import * as SqliteJobStore from "../../src/drivers/sqlite/SqliteJobStore.ts"
import { brokenRules } from "./invariants.ts"
import { inMemory, jobRow, newFilename, request, withStorage } from "./support.ts"

const insert = (tables: Tables, id: string, fields?: Parameters<typeof jobRow>[1]) => {
  const row = jobRow(tables.jobs.next(), { id, ...fields })
  tables.jobs.insert(row)
  return row
}

describe("numbers", () => {
  it.effect("grow across restarts, also when all jobs that had them are gone", () =>
    Effect.gen(function* () {
      const filename = yield* newFilename
      const numbers: Array<number> = []
      for (let start = 0; start < 3; start++) {
        yield* withStorage({ filename }, (storage) =>
          storage.write((tables) => {
            const row = insert(tables, `job-${start}`)
            numbers.push(row.seq)
            tables.jobs.delete(row)
          })
        )
      }
      const [first = 0, second = 0, third = 0] = numbers
      assert.isTrue(first < second && second < third, `${numbers}`)
    })
  )

  it.effect("keep the line as it was when the database is opened again", () =>
    Effect.gen(function* () {
      const filename = yield* newFilename
      const layer = SqliteJobStore.layer({ filename })
      const use = <A, E>(body: (store: JobStore.Service) => Effect.Effect<A, E>) =>
        Effect.scoped(Effect.provide(Effect.flatMap(JobStore.JobStore, body), layer, { local: true }))
      const claim = (token: string) =>
        use((store) => store.claim({ queue: "queue", names: ["job", "other"], token, lockDurationMs: 1000 }))
      yield* use((store) => store.enqueueMany(["a", "b"].map((id) => request({ id }))))
      yield* use((store) => store.enqueueMany(["c", "d"].map((id) => request({ id, name: "other" }))))
      yield* use((store) => store.enqueue(request({ id: "first", priority: 1 })))
      const order: Array<string> = []
      for (const token of ["1", "2", "3", "4", "5"]) {
        const claimed = yield* claim(token)
        order.push(claimed._tag === "Claimed" ? claimed.job.id : "nothing")
      }
      assert.deepStrictEqual(order, ["first", "a", "b", "c", "d"])
      const again = yield* claim("3")
      assert.strictEqual(again._tag === "Claimed" ? again.job.id : again._tag, "b")
    })
  )
})

describe("lanes", () => {
  it.effect("go when their last job goes, and come back with the next", () =>
    Effect.gen(function* () {
      const { db, storage } = yield* inMemory
      const lanes = () => db.prepare("select queue, name from lane order by queue, name").all().length
      const { answer: row } = yield* storage.write((tables) => {
        insert(tables, "stays", { queue: "other" })
        return insert(tables, "goes")
      })
      assert.strictEqual(lanes(), 2)
      yield* storage.write((tables) => tables.jobs.delete(row))
      assert.strictEqual(lanes(), 1)
      yield* storage.write((tables) => insert(tables, "comes"))
      assert.strictEqual(lanes(), 2)
      const first = yield* storage.read((tables) => tables.jobs.firstWaiting("queue", ["job"])?.id)
      assert.strictEqual(first, "comes")
      assert.deepStrictEqual(brokenRules(db), [])
    })
  )

  it.effect("of one queue are asked in the order of priority and place, whatever else waits", () =>
    Effect.gen(function* () {
      const { storage } = yield* inMemory
      yield* storage.write((tables) => {
        for (let n = 0; n < 500; n++) insert(tables, `many-${n}`, { name: "many" })
        insert(tables, "rare", { name: "rare" })
        insert(tables, "urgent", { name: "many", priority: 2 })
      })
      const first = (names: ReadonlyArray<string>) =>
        storage.read((tables) => tables.jobs.firstWaiting("queue", names)?.id)
      assert.strictEqual(yield* first(["rare"]), "rare")
      assert.strictEqual(yield* first(["rare", "many"]), "urgent")
      assert.strictEqual(yield* first(["nobody", "rare"]), "rare")
      assert.isUndefined(yield* first(["nobody"]))
      assert.isUndefined(yield* first([]))
    })
  )
})

describe("a rollback", () => {
  it.effect("takes back tallies, lanes and what was known of delayed jobs", () =>
    Effect.gen(function* () {
      const { db, storage } = yield* inMemory
      yield* storage.write((tables) => insert(tables, "delayed", { state: "delayed", runAt: 50 }))
      yield* Effect.exit(
        storage.write((tables) => {
          for (const row of tables.jobs.due("queue", 60, 10)) tables.jobs.update(row, { ...row, state: "waiting" })
          insert(tables, "later", { state: "delayed", runAt: 100 })
          insert(tables, "elsewhere", { queue: "new", name: "new" })
          // Now the lane knows that nothing is due before 100.
          assert.deepStrictEqual(tables.jobs.due("queue", 60, 10), [])
          throw new Error("a defect")
        })
      )
      const seen = yield* storage.read((tables) => ({
        due: tables.jobs.due("queue", 60, 10).map(({ id }) => id),
        next: tables.jobs.nextRunAt("queue", ["job"]),
        counts: tables.jobs.counts(undefined)
      }))
      assert.deepStrictEqual(seen.due, ["delayed"])
      assert.strictEqual(seen.next, 50)
      assert.deepStrictEqual([seen.counts.delayed, seen.counts.waiting], [1, 0])
      assert.deepStrictEqual(brokenRules(db), [])
    })
  )
})

describe("history", () => {
  it.effect("that is over the store's ceiling is swept from the file", () =>
    Effect.gen(function* () {
      const filename = yield* newFilename
      const left = yield* Effect.gen(function* () {
        const store = yield* JobStore.JobStore
        yield* store.enqueueMany(["old", "kept"].map((id) => request({ id })))
        yield* store.cancel("old")
        yield* TestClock.adjust("61 seconds")
        // A write waits for its turn behind the sweep.
        yield* store.enqueue(request({ id: "new" }))
        return yield* store.list({ order: "asc" })
      }).pipe(Effect.provide(SqliteJobStore.layer({ filename, historyTtl: "30 seconds" })), Effect.scoped)
      assert.deepStrictEqual(
        left.items.map(({ id }) => id),
        ["kept", "new"]
      )
      const db = new DatabaseSync(filename)
      assert.deepStrictEqual(brokenRules(db), [])
      db.close()
    })
  )
})
