/** Which files are opened, and what the others are told. */
import { assert, describe, expect, it } from "@effect/vitest"
import { JobStore, type JobStoreError } from "@jobwire/protocol"
import { Config, ConfigProvider, Effect, Exit, Layer, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile, truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { open } from "../../src/drivers/sqlite/Database.ts"
import { migrations } from "../../src/drivers/sqlite/Migrations.ts"
import * as SqliteJobStore from "../../src/drivers/sqlite/SqliteJobStore.ts"
import { defaultStoreId, JobStores } from "../../src/JobStores.ts"
import { newFilename, newFolder, request } from "./support.ts"

const build = (filename: string) => Layer.build(SqliteJobStore.layer({ filename }))

const refusal = (filename: string): Effect.Effect<JobStoreError> =>
  Effect.scoped(build(filename)).pipe(Effect.flip, Effect.orDie)

const change = (filename: string, sql: string): Effect.Effect<void> =>
  Effect.sync(() => {
    const db = new DatabaseSync(filename)
    db.exec(sql)
    db.close()
  })

const useStore = <A, E>(filename: string, use: (store: JobStore.Service) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.provide(Effect.flatMap(JobStore.JobStore, use), SqliteJobStore.layer({ filename })))

describe("a new file", () => {
  it.effect("gets every migration, and keeps its jobs when it is opened again", () =>
    Effect.gen(function* () {
      const filename = yield* newFilename
      const { id } = yield* useStore(filename, (store) => store.enqueue(request()))
      const db = new DatabaseSync(filename, { readOnly: true })
      const versions = db.prepare("select version, name from migration order by version").all()
      db.close()
      assert.deepStrictEqual(
        versions.map(({ name, version }) => [version, name]),
        migrations.map(({ name, version }) => [version, name])
      )
      const job = yield* useStore(filename, (store) => store.getJob(id))
      assert.strictEqual(job._tag, "Some")
    })
  )

  it.effect("is journalled ahead and synced at every commit, unless the options say otherwise", () =>
    Effect.gen(function* () {
      const folder = yield* newFolder
      for (const [synchronous, level] of [
        [undefined, 2],
        ["full", 2],
        ["normal", 1]
      ] as const) {
        const db = open({ filename: join(folder, `${synchronous}.db`), synchronous }, 0)
        assert.deepStrictEqual({ ...db.prepare("pragma synchronous").get() }, { synchronous: level })
        assert.deepStrictEqual({ ...db.prepare("pragma journal_mode").get() }, { journal_mode: "wal" })
        db.close()
      }
    })
  )
})

describe("a file that is in use", () => {
  it.effect("is refused to a second layer of this process, until the first is closed", () =>
    Effect.gen(function* () {
      const filename = yield* newFilename
      const scope = yield* Scope.make()
      yield* Scope.provide(build(filename), scope)
      const error = yield* refusal(filename)
      assert.include(error.message, filename)
      assert.include(error.message, "in use by another process")
      assert.deepStrictEqual(error.reason, { _tag: "DriverFault", transient: true })
      yield* Scope.close(scope, Exit.void)
      yield* Effect.scoped(build(filename))
    })
  )

  it.live("is refused while another process holds it, and free at once when that is killed with -9", () =>
    Effect.gen(function* () {
      const filename = yield* newFilename
      const holder = spawn(process.execPath, [
        "--conditions=jobwire:source",
        join(import.meta.dirname, "processes", "hold.ts"),
        filename
      ])
      yield* Effect.promise(() => once(holder.stdout, "data"))
      const error = yield* refusal(filename)
      assert.include(error.message, `${filename} is in use by another process`)
      holder.kill("SIGKILL")
      yield* Effect.promise(() => once(holder, "exit"))
      const held = yield* useStore(filename, (store) => store.getJob("held"))
      assert.strictEqual(held._tag, "Some")
    })
  )
})

describe("a file that is not ours", () => {
  it.effect("with a newer schema is refused and left as it is", () =>
    Effect.gen(function* () {
      const filename = yield* newFilename
      yield* Effect.scoped(build(filename))
      yield* change(filename, "insert into migration values (4711, 'from tomorrow', 0)")
      const error = yield* refusal(filename)
      assert.include(error.message, filename)
      assert.include(error.message, "schema version 4711")
      assert.include(error.message, `knows up to ${migrations.length}`)
      assert.isFalse(error.isRetryable)
    })
  )

  it.effect("but of another application is refused and left as it is", () =>
    Effect.gen(function* () {
      const filename = yield* newFilename
      yield* change(filename, "create table invoice (number integer)")
      const before = yield* Effect.promise(() => readFile(filename))
      const error = yield* refusal(filename)
      assert.include(error.message, `${filename} is an SQLite database, but not one of Jobwire`)
      assert.isTrue(before.equals(yield* Effect.promise(() => readFile(filename))))
    })
  )

  it.effect("nor SQLite's is refused and left as it is", () =>
    Effect.gen(function* () {
      const filename = yield* newFilename
      const text = "Dear diary, ".repeat(1000)
      yield* Effect.promise(() => writeFile(filename, text))
      const error = yield* refusal(filename)
      assert.include(error.message, `${filename} is not an SQLite database`)
      assert.isFalse(error.isRetryable)
      assert.strictEqual(yield* Effect.promise(() => readFile(filename, "utf8")), text)
    })
  )

  it.effect("any more since it was damaged is refused with its path", () =>
    Effect.gen(function* () {
      const filename = yield* newFilename
      yield* Effect.scoped(build(filename))
      // The first page says how many pages there are; now there is one.
      yield* Effect.promise(() => truncate(filename, 4096))
      const error = yield* refusal(filename)
      assert.include(error.message, filename)
      assert.include(error.message, "damaged")
      assert.isFalse(error.isRetryable)
    })
  )
})

describe("a path that leads nowhere", () => {
  it.effect("into a folder that is not there is refused, and the message says what must be there", () =>
    Effect.gen(function* () {
      const filename = join(yield* newFolder, "missing", "jobs.db")
      const error = yield* refusal(filename)
      assert.include(error.message, filename)
      assert.include(error.message, "its directory must exist")
    })
  )

  it.effect("because it is empty is refused", () =>
    Effect.gen(function* () {
      assert.include((yield* refusal("")).message, "the filename of the SQLite database is empty")
    })
  )
})

describe("layers", () => {
  it.effect("layerStores keeps tenants and names apart, and gives the same store for the same id", () =>
    Effect.gen(function* () {
      const filename = yield* newFilename
      const ids = [
        defaultStoreId,
        { tenant: "a", store: "b" },
        { tenant: "b", store: "a" },
        { tenant: 'a","b', store: "" }
      ]
      const counted = yield* Effect.gen(function* () {
        const stores = yield* JobStores
        for (const [index, id] of ids.entries()) {
          const store = yield* stores.get(id)
          for (let n = 0; n <= index; n++) yield* store.enqueue(request({ id: `job-${n}` }))
          expect(yield* stores.get(id)).toBe(store)
        }
        return yield* Effect.forEach(ids, (id) => Effect.flatMap(stores.get(id), (store) => store.counts()))
      }).pipe(Effect.provide(SqliteJobStore.layerStores({ filename })), Effect.scoped)
      assert.deepStrictEqual(
        counted.map(({ waiting }) => waiting),
        [1, 2, 3, 4]
      )
    })
  )

  it.effect("layerFor provides a store under its own key, layerConfig takes its options from configuration", () =>
    Effect.gen(function* () {
      const filename = yield* newFilename
      const mails = JobStore.named("mails")
      yield* Effect.flatMap(mails, (store) => store.enqueue(request({ id: "a-mail" }))).pipe(
        Effect.provide(SqliteJobStore.layerFor(mails, { filename })),
        Effect.scoped
      )
      const configured = SqliteJobStore.layerConfig({ filename: Config.String("JOBS_FILE") }).pipe(
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ JOBS_FILE: filename })))
      )
      const job = yield* Effect.flatMap(JobStore.JobStore, (store) => store.getJob("a-mail")).pipe(
        Effect.provide(configured),
        Effect.scoped
      )
      assert.strictEqual(job._tag, "Some")
    })
  )
})
