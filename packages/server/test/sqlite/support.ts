/** Databases of their own for tests: a folder that goes with the scope. */
import { Effect, type Scope } from "effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The path of a database that is not there yet, in a folder that is deleted at the end of the scope. */
export const newFilename: Effect.Effect<string, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "jobwire-sqlite-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "jobs.db")
)
