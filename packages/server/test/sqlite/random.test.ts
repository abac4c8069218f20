/**
 * Random histories on SQLite and in memory: every call must answer the same, and at the end the file keeps its rules.
 * `JOBWIRE_SEED` repeats one.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Exit } from "effect"
import { TestClock } from "effect/testing"
import * as EmbeddedJobStore from "../../src/drivers/embedded/EmbeddedJobStore.ts"
import * as MemoryJobStore from "../../src/drivers/memory/MemoryJobStore.ts"
import { open } from "../../src/drivers/sqlite/Database.ts"
import * as SqliteStorages from "../../src/drivers/sqlite/SqliteStorages.ts"
import { defaultStoreId } from "../../src/JobStores.ts"
import { brokenRules } from "./invariants.ts"
import { Calls, drawFrom, listAll } from "./random-calls.ts"

const given = process.env["JOBWIRE_SEED"]
const seeds =
  given === undefined ? Array.from({ length: 4 }, () => Math.trunc(Math.random() * 2 ** 31)) : [Number(given)]

const both = Effect.gen(function* () {
  const memory = yield* MemoryJobStore.make()
  const db = open({ filename: ":memory:" }, 0)
  const storages = yield* Effect.acquireRelease(
    Effect.sync(() => SqliteStorages.fromDatabase(db, "jobs.db")),
    (made) => Effect.sync(made.close)
  )
  // Another store in the same tables, whose jobs nobody may see.
  const neighbour = yield* storages.get({ tenant: "other", store: "default" })
  yield* (yield* EmbeddedJobStore.make(neighbour)).pause("a")
  const sqlite = yield* EmbeddedJobStore.make(yield* storages.get(defaultStoreId))
  return { db, memory, sqlite }
})

describe("a random history", () => {
  for (const seed of seeds) {
    it.effect(`with the seed ${seed} is the same on SQLite and in memory`, () =>
      Effect.gen(function* () {
        const { db, memory, sqlite } = yield* both
        const draw = drawFrom(seed)
        const calls = new Calls(draw)
        const past: Array<string> = []
        for (let step = 0; step < 500; step++) {
          if (draw(3) === 0) yield* TestClock.adjust(draw(60))
          const call = calls.next()
          past.push(call.name)
          const expected: Exit.Exit<unknown, unknown> = yield* Effect.exit(call.run(memory))
          const actual = yield* Effect.exit(call.run(sqlite))
          assert.deepStrictEqual(actual, expected, `seed ${seed}, step ${step}:\n${past.slice(-5).join("\n")}`)
        }
        for (const queue of [undefined, "a", "b"]) {
          assert.deepStrictEqual(yield* sqlite.counts(queue), yield* memory.counts(queue), `seed ${seed}`)
        }
        for (let lists = 0; lists < 60; lists++) {
          const options = calls.listOptions()
          const actual = yield* listAll(sqlite, options)
          assert.deepStrictEqual(actual, yield* listAll(memory, options), `seed ${seed}: ${JSON.stringify(options)}`)
        }
        assert.deepStrictEqual(brokenRules(db), [], `seed ${seed}`)
      })
    )
  }
})
