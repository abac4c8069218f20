/**
 * Opening the file: it must be ours or new, and nobody else may have it open. SQLite's exclusive locking mode holds a lock
 * of the operating system on the file for as long as the connection lives, so a process that is killed frees it.
 */
import { type JobStoreError } from "@jobwire/protocol"
import { DatabaseSync } from "node:sqlite"
import { applicationId, migrate } from "./Migrations.ts"
import { driverFault, fromSqlite, isSqliteError, primaryCode, resultCodes, type SqliteError } from "./SqliteFault.ts"
import { prepare } from "./Statement.ts"

/** Where the database is, and how sure a commit is. */
export interface DatabaseOptions {
  /** Path of the file, whose directory must exist; or `:memory:`. */
  readonly filename: string
  /**
   * `full` (the default): an acknowledged operation survives a power cut. `normal`: it survives the end of the process, but
   * a power cut may take the last moments.
   */
  readonly synchronous?: "full" | "normal" | undefined
}

/** Opens the database and brings it to the newest layout. Throws a `JobStoreError` that names the file. */
export const open = ({ filename, synchronous = "full" }: DatabaseOptions, now: number): DatabaseSync => {
  if (filename === "") throw driverFault("the filename of the SQLite database is empty: give the path of a file", false)
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(filename)
    db.exec("pragma locking_mode = exclusive")
    identify(db, filename)
    configure(db, filename, synchronous)
    migrate(db, filename, now)
    return db
  } catch (error) {
    db?.close()
    throw isSqliteError(error) ? openingFault(filename, error) : error
  }
}

// Reads only: a file that is not ours is not changed.
const identify = (db: DatabaseSync, filename: string): void => {
  const objects = prepare<[number]>(db, "select count(*) from sqlite_schema").get()?.[0]
  const application = prepare<[number]>(db, "pragma application_id").get()?.[0]
  if (application === applicationId || (application === 0 && objects === 0)) return
  throw driverFault(
    `${filename} is an SQLite database, but not one of Jobwire: it was left as it is. Give the path of another file`,
    false
  )
}

const configure = (db: DatabaseSync, filename: string, synchronous: "full" | "normal"): void => {
  const mode = prepare<[string]>(db, "pragma journal_mode = wal").get()?.[0]
  if (mode !== "wal" && filename !== ":memory:") {
    throw driverFault(`the database ${filename} cannot use a write-ahead log: its journal mode stays ${mode}`, false)
  }
  // The checkpoint comes after 16 MiB of log in place of 4: pages that change again and again are copied back less often.
  db.exec(`
    pragma synchronous = ${synchronous};
    pragma cache_size = -65536;
    pragma temp_store = memory;
    pragma wal_autocheckpoint = 4096;
    pragma journal_size_limit = 67108864;
    begin exclusive;
    commit;
  `)
}

const openingFault = (filename: string, error: SqliteError): JobStoreError => {
  switch (primaryCode(error)) {
    case resultCodes.busy:
      return driverFault(
        `the database ${filename} is in use by another process, or by another store of this one: ` +
          "a database has one Jobwire at a time. Stop the other, or give another file",
        true
      )
    case resultCodes.cannotOpen:
      return driverFault(
        `the database ${filename} cannot be opened: ${error.message}: its directory must exist, ` +
          "and this process must be allowed to write there",
        false
      )
    case resultCodes.notADatabase:
      return driverFault(
        `${filename} is not an SQLite database: it was left as it is. Give the path of another file`,
        false
      )
    default:
      return fromSqlite(filename, error)
  }
}
