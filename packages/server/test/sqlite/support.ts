/** What the tests of the SQLite driver share. */
import { EnqueueRequest, type JobStoreError } from "@jobwire/protocol"
import { Effect, type Scope } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import type { JobRow } from "../../src/core/JobRow.ts"
import { type DatabaseOptions, open } from "../../src/drivers/sqlite/Database.ts"
import * as SqliteStorages from "../../src/drivers/sqlite/SqliteStorages.ts"
import type { Storage } from "../../src/drivers/embedded/Storage.ts"
import { defaultStoreId } from "../../src/JobStores.ts"

/** A folder that is deleted at the end of the scope. */
export const newFolder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "jobwire-sqlite-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** The path of a database that is not there yet. */
export const newFilename: Effect.Effect<string, never, Scope.Scope> = Effect.map(newFolder, (folder) =>
  join(folder, "jobs.db")
)

/** Uses the storage of the default store in a file, which is closed afterwards. */
export const withStorage = <A, E>(
  options: DatabaseOptions,
  use: (storage: Storage) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.scoped(
    SqliteStorages.make(options).pipe(
      Effect.flatMap((storages) => storages.get(defaultStoreId)),
      Effect.orDie,
      Effect.flatMap(use)
    )
  )

/** A database in memory: its connection, the storage of its default store, and the end of it. */
export interface InMemory {
  readonly db: DatabaseSync
  readonly storage: Storage
  readonly close: () => void
}

/** A new database in memory, which its errors call `jobs.db`. */
export const inMemory: Effect.Effect<InMemory, JobStoreError, Scope.Scope> = Effect.gen(function* () {
  const db = open({ filename: ":memory:" }, 0)
  const storages = SqliteStorages.fromDatabase(db, "jobs.db")
  yield* Effect.addFinalizer(() => Effect.sync(() => (db.isOpen ? storages.close() : undefined)))
  return { db, storage: yield* storages.get(defaultStoreId), close: storages.close }
})

/** A request with what no test cares about filled in. */
export const request = (fields?: Partial<EnqueueRequest>): EnqueueRequest =>
  EnqueueRequest.make({ name: "job", queue: "queue", payload: { n: 1 }, ...fields })

/** A waiting job's row. */
export const jobRow = (seq: number, fields?: Partial<JobRow>): JobRow => ({
  seq,
  place: seq,
  id: `job-${seq}`,
  name: "job",
  queue: "queue",
  payload: `{"n":1}`,
  metadata: {},
  state: "waiting",
  priority: 0,
  attemptsMax: 1,
  attemptsMade: 0,
  stalledCount: 0,
  ledgerLength: 0,
  call: undefined,
  backoff: undefined,
  keep: undefined,
  timeoutMs: undefined,
  cancelRequested: false,
  dedupeKey: undefined,
  trace: undefined,
  parent: undefined,
  flow: undefined,
  runAt: 0,
  enqueuedAt: 0,
  processedAt: undefined,
  finishedAt: undefined,
  exit: undefined,
  failedReason: undefined,
  token: undefined,
  lockUntil: undefined,
  ...fields
})
