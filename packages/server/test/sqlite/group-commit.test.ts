/** Units of work of concurrent callers: together in one commit, and none at the cost of another. */
import { assert, describe, it } from "@effect/vitest"
import { JobStoreError } from "@jobwire/protocol"
import { Cause, Effect, Exit, Fiber } from "effect"
import type { Storage } from "../../src/drivers/embedded/Storage.ts"
import type { Tables } from "../../src/drivers/embedded/Tables.ts"
import { brokenRules } from "./invariants.ts"
import { inMemory, jobRow } from "./support.ts"

const insert = (id: string) => (tables: Tables) => tables.jobs.insert(jobRow(tables.jobs.next(), { id }))

const insertBig = (id: string) => (tables: Tables) =>
  tables.jobs.insert(jobRow(tables.jobs.next(), { id, payload: JSON.stringify("x".repeat(200_000)) }))

const takeManyAndThrow = (tables: Tables) => {
  for (let n = 0; n < 3000; n++) tables.jobs.next()
  throw new Error("after many numbers")
}

const idsOf = (storage: Storage): Effect.Effect<ReadonlyArray<string>, JobStoreError> =>
  storage.read((tables) => {
    const all = tables.jobs.scan({
      queue: undefined,
      name: undefined,
      states: undefined,
      metadata: undefined,
      orderBy: "enqueuedAt",
      order: "asc",
      after: undefined
    })
    return Array.from(all, ({ id }) => id)
  })

describe("concurrent units", () => {
  it.effect("run in one transaction, and are answered after its commit", () =>
    Effect.gen(function* () {
      const { db, storage } = yield* inMemory
      const log: Array<string> = []
      const unit = (n: number) =>
        storage
          .write((tables) => {
            insert(`job-${n}`)(tables)
            log.push(`${n} runs ${db.isTransaction ? "inside" : "outside"}`)
          })
          .pipe(Effect.map(() => log.push(`${n} answered ${db.isTransaction ? "inside" : "outside"}`)))
      yield* Effect.all([unit(1), unit(2), unit(3)], { concurrency: "unbounded" })
      assert.deepStrictEqual(log, [
        "1 runs inside",
        "2 runs inside",
        "3 runs inside",
        "1 answered outside",
        "2 answered outside",
        "3 answered outside"
      ])
    })
  )

  it.effect("of thousands of callers are cut into several transactions", () =>
    Effect.gen(function* () {
      const { storage } = yield* inMemory
      const groups: Array<number> = []
      let isAnswering = false
      const unit = (n: number) =>
        storage
          .write((tables) => {
            // The first after an answer is the first of the next transaction.
            groups.push(isAnswering ? 1 : (groups.pop() ?? 0) + 1)
            isAnswering = false
            insert(`job-${n}`)(tables)
          })
          .pipe(Effect.map(() => (isAnswering = true)))
      yield* Effect.all(
        Array.from({ length: 2500 }, (_, n) => unit(n)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(
        groups.reduce((sum, units) => sum + units, 0),
        2500
      )
      assert.isAtMost(Math.max(...groups), 1000)
      assert.lengthOf(yield* idsOf(storage), 2500)
    })
  )

  it.effect("see the writes of those before them, and a read sees only what is committed", () =>
    Effect.gen(function* () {
      const { storage } = yield* inMemory
      const fiber = yield* Effect.forkChild(storage.write(insert("a")), { startImmediately: true })
      assert.deepStrictEqual(yield* idsOf(storage), [])
      const seen = yield* storage.write((tables) => tables.jobs.get("a")?.id)
      yield* Fiber.join(fiber)
      assert.strictEqual(seen.answer, "a")
    })
  )
})

describe("a unit that throws", () => {
  it.effect("keeps nothing of its own, takes nobody with it, and its caller alone gets the defect", () =>
    Effect.gen(function* () {
      const { db, storage } = yield* inMemory
      const runs: Array<string> = []
      const good = (id: string) =>
        storage.write((tables) => {
          runs.push(id)
          insert(id)(tables)
          return id
        })
      const bad = storage.write((tables): string => {
        runs.push("bad")
        insert("bad")(tables)
        tables.pauses.add("queue")
        throw new Error("a defect in one call")
      })
      const exits = yield* Effect.all([good("a"), bad, good("b"), good("c")].map(Effect.exit), {
        concurrency: "unbounded"
      })
      const [a, defect, b, c] = exits
      assert.deepStrictEqual(
        [a, b, c],
        ["a", "b", "c"].map((answer): typeof a => Exit.succeed({ answer }))
      )
      assert.isTrue(defect !== undefined && Exit.isFailure(defect) && Cause.hasDies(defect.cause))
      // The group ends at the one that throws; then each runs alone, and those behind it are the next group.
      assert.deepStrictEqual(runs, ["a", "bad", "a", "bad", "b", "c"])
      assert.deepStrictEqual(yield* idsOf(storage), ["a", "b", "c"])
      assert.deepStrictEqual(yield* storage.read((tables) => tables.pauses.list()), [])
      assert.strictEqual((yield* storage.read((tables) => tables.jobs.counts(undefined))).waiting, 3)
      assert.deepStrictEqual(brokenRules(db), [])
    })
  )

  it.effect("with a JobStoreError fails with it", () =>
    Effect.gen(function* () {
      const { storage } = yield* inMemory
      const error = new JobStoreError({ message: "no", reason: { _tag: "Defect" } })
      const refused = storage.write(() => {
        throw error
      })
      assert.strictEqual(yield* Effect.flip(refused), error)
    })
  )

  it.effect("takes its numbers back, and no number is given twice to what is kept", () =>
    Effect.gen(function* () {
      const { db, storage } = yield* inMemory
      yield* storage.write(insert("before"))
      yield* Effect.exit(storage.write(takeManyAndThrow))
      yield* Effect.all([storage.write(insert("x")), storage.write(insert("y"))], { concurrency: "unbounded" })
      const seqs = yield* storage.read((tables) => ["before", "x", "y"].map((id) => tables.jobs.get(id)?.seq ?? -1))
      assert.deepStrictEqual(
        seqs.toSorted((one, other) => one - other),
        seqs
      )
      assert.strictEqual(new Set(seqs).size, 3)
      assert.deepStrictEqual(brokenRules(db), [])
    })
  )
})

describe("a fault of the database", () => {
  it.effect("that is full is transient, and says so; what was refused is not there, and works once there is room", () =>
    Effect.gen(function* () {
      const { db, storage } = yield* inMemory
      yield* storage.write(insert("fits"))
      const { page_count: pages } = db.prepare("pragma page_count").get() ?? {}
      db.exec(`pragma max_page_count = ${Number(pages) + 20}`)
      const [error, small] = yield* Effect.all(
        [Effect.flip(storage.write(insertBig("big"))), storage.write(insert("small"))],
        {
          concurrency: "unbounded"
        }
      )
      assert.include(error.message, "jobs.db")
      assert.include(error.message, "full")
      assert.deepStrictEqual(error.reason, { _tag: "DriverFault", transient: true })
      assert.isUndefined(small.answer)
      assert.deepStrictEqual(yield* idsOf(storage), ["fits", "small"])
      assert.deepStrictEqual(brokenRules(db), [])
      db.exec("pragma max_page_count = 100000")
      yield* storage.write(insertBig("big"))
      assert.deepStrictEqual(yield* idsOf(storage), ["big", "fits", "small"])
      assert.deepStrictEqual(brokenRules(db), [])
    })
  )

  it.effect("that may not be written is not transient", () =>
    Effect.gen(function* () {
      const { db, storage } = yield* inMemory
      db.exec("pragma query_only = on")
      const error = yield* Effect.flip(storage.write(insert("a")))
      assert.deepStrictEqual(error.reason, { _tag: "DriverFault", transient: false })
      assert.include(error.message, "may not write")
      db.exec("pragma query_only = off")
      yield* storage.write(insert("a"))
    })
  )
})

describe("going away", () => {
  it.effect("a caller that is interrupted before its turn leaves nothing to do", () =>
    Effect.gen(function* () {
      const { storage } = yield* inMemory
      const gone = yield* Effect.forkChild(storage.write(insert("gone")), { startImmediately: true })
      const stays = yield* Effect.forkChild(storage.write(insert("stays")), { startImmediately: true })
      yield* Fiber.interrupt(gone)
      yield* Fiber.join(stays)
      assert.deepStrictEqual(yield* idsOf(storage), ["stays"])
    })
  )

  it.effect("a close carries out what waits, and refuses what comes later", () =>
    Effect.gen(function* () {
      const { close, storage } = yield* inMemory
      const waiting = yield* Effect.forkChild(
        storage.write((tables) => {
          insert("last")(tables)
          return "done"
        }),
        { startImmediately: true }
      )
      close()
      assert.strictEqual((yield* Fiber.join(waiting)).answer, "done")
      for (const late of [storage.write(insert("late")), storage.read(() => undefined)]) {
        const error = yield* Effect.flip(late)
        assert.include(error.message, "jobs.db is closed")
        assert.isFalse(error.isRetryable)
      }
    })
  )
})
