/**
 * The suite, every test on a new store of one database: opening a file a test would take most of the time. Without a sync
 * a commit, which other tests are about.
 */
import { JobStore } from "@jobwire/protocol"
import { jobStoreConformance } from "@jobwire/protocol/testing"
import { Effect, Exit, Layer, Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import * as EmbeddedJobStore from "../../src/drivers/embedded/EmbeddedJobStore.ts"
import * as SqliteStorages from "../../src/drivers/sqlite/SqliteStorages.ts"
import { newFilename } from "./support.ts"

const scope = Scope.makeUnsafe()
let storages: SqliteStorages.SqliteStorages
let stores = 0

beforeAll(async () => {
  const opened = Effect.flatMap(newFilename, (filename) => SqliteStorages.make({ filename, synchronous: "normal" }))
  storages = await Effect.runPromise(Scope.provide(opened, scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

jobStoreConformance("SqliteJobStore", () =>
  Layer.effect(
    JobStore.JobStore,
    Effect.suspend(() => storages.get({ tenant: "conformance", store: `store-${stores++}` })).pipe(
      Effect.flatMap((storage) => EmbeddedJobStore.make(storage)),
      Effect.orDie
    )
  )
)
