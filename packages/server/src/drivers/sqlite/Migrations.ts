/** The layouts of the database, one after another: numbered, applied once, never undone. */
import type { DatabaseSync } from "node:sqlite"
import * as tables from "./migrations/0001_tables.ts"
import * as receipts from "./migrations/0002_receipts.ts"
import { driverFault } from "./SqliteFault.ts"
import { prepare } from "./Statement.ts"

/** One step from a layout to the next. */
export interface Migration {
  /** One more than the step before. */
  readonly version: number
  readonly name: string
  readonly sql: string
}

/** Every step; a step that was published is never changed. */
export const migrations: ReadonlyArray<Migration> = [
  { version: 1, name: "tables", sql: tables.sql },
  { version: 2, name: "receipts", sql: receipts.sql }
]

/** Marks a file as ours, for us and for `file(1)`: "JobW" as a number. */
export const applicationId = 0x4a6f6257

/**
 * Brings the database to the newest layout, each step in a transaction of its own. Refuses a database that a newer version
 * has changed, and leaves it as it is.
 */
export const migrate = (db: DatabaseSync, filename: string, now: number, steps = migrations): void => {
  const known = steps.at(-1)?.version ?? 0
  const current = currentVersion(db)
  if (current > known) {
    throw driverFault(
      `the database ${filename} has schema version ${current}, and this version of Jobwire knows up to ${known}: ` +
        "a newer Jobwire has written it. Use that version or a later one, or give another file",
      false
    )
  }
  for (const step of steps) {
    if (step.version > current) applyStep(db, step, now)
  }
}

const currentVersion = (db: DatabaseSync): number => {
  const table = prepare<[number]>(db, "select count(*) from sqlite_schema where type = 'table' and name = 'migration'")
  if (table.get()?.[0] === 0) return 0
  return prepare<[number]>(db, "select coalesce(max(version), 0) from migration").get()?.[0] ?? 0
}

const applyStep = (db: DatabaseSync, step: Migration, now: number): void => {
  db.exec("begin immediate")
  try {
    db.exec(`
      pragma application_id = ${applicationId};
      create table if not exists migration (
        version integer primary key, name text not null, applied_at real not null
      ) strict;
    `)
    db.exec(step.sql)
    prepare(db, "insert into migration (version, name, applied_at) values (?, ?, ?)").run(step.version, step.name, now)
    db.exec("commit")
  } catch (error) {
    if (db.isTransaction) db.exec("rollback")
    throw error
  }
}
