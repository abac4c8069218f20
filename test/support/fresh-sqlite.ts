/** An SQLite store in a file of its own, which goes with the store. */
import { SqliteJobStore } from "@jobwire/server"
import { Effect, Layer } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder that goes with the scope. */
export const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "jobwire-sqlite-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** A new store each time the layer is built. */
export const freshSqlite = Layer.unwrap(
  Effect.map(folder, (path) => SqliteJobStore.layer({ filename: join(path, "jobs.db") }))
)
