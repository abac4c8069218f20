/** Steps from one layout to the next. */
import { assert, describe, it } from "@effect/vitest"
import { DatabaseSync } from "node:sqlite"
import { migrate, type Migration, migrations } from "../../src/drivers/sqlite/Migrations.ts"

const first: Migration = { version: 1, name: "first", sql: "create table a (x integer) strict" }
const second: Migration = { version: 2, name: "second", sql: "create table b (x integer) strict" }
const broken: Migration = { version: 2, name: "broken", sql: "create table b (x integer) strict; select nonsense" }

const tables = (db: DatabaseSync): ReadonlyArray<unknown> =>
  db
    .prepare("select name from sqlite_schema where type = 'table' and name <> 'migration' order by name")
    .all()
    .map(({ name }) => name)

const applied = (db: DatabaseSync): ReadonlyArray<unknown> =>
  db
    .prepare("select version, name, applied_at from migration order by version")
    .all()
    .map(({ applied_at, name, version }) => [version, name, applied_at])

describe("migrations", () => {
  it("are numbered from 1 without gaps", () => {
    assert.deepStrictEqual(
      migrations.map(({ version }) => version),
      migrations.map((_, index) => index + 1)
    )
  })

  it("are applied in order, each once, and remember when", () => {
    const db = new DatabaseSync(":memory:")
    migrate(db, "jobs.db", 10, [first])
    migrate(db, "jobs.db", 20, [first, second])
    migrate(db, "jobs.db", 30, [first, second])
    assert.deepStrictEqual(tables(db), ["a", "b"])
    assert.deepStrictEqual(applied(db), [
      [1, "first", 10],
      [2, "second", 20]
    ])
  })

  it("that fail half way leave nothing of themselves", () => {
    const db = new DatabaseSync(":memory:")
    assert.throws(() => migrate(db, "jobs.db", 10, [first, broken]), "nonsense")
    assert.deepStrictEqual(tables(db), ["a"])
    assert.deepStrictEqual(applied(db), [[1, "first", 10]])
    migrate(db, "jobs.db", 20, [first, second])
    assert.deepStrictEqual(tables(db), ["a", "b"])
  })

  it("do not go back: a database of a newer version is refused", () => {
    const db = new DatabaseSync(":memory:")
    migrate(db, "jobs.db", 10, [first, second])
    assert.throws(() => migrate(db, "jobs.db", 20, [first]), "jobs.db has schema version 2")
    assert.deepStrictEqual(tables(db), ["a", "b"])
  })
})
