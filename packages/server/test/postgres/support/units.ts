/** A server that does everything by units of work, and its stores. */
import type { JobStore } from "@jobwire/protocol"
import { JobStores } from "@jobwire/server"
import { PostgresJobStore } from "@jobwire/server/postgres"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { randomUUID } from "node:crypto"
import { afterAll } from "vitest"
import { databaseUrl } from "../../../../../test/support/fresh-postgres.ts"
import * as HotSettings from "../../../src/drivers/postgres/hot/HotSettings.ts"
import { numberOf } from "./database.ts"

const scope = Scope.makeUnsafe()

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const makeServer = Effect.suspend(() =>
  Layer.buildWithScope(
    PostgresJobStore.layerStores({ url: databaseUrl(), historySweepInterval: "20 days" }).pipe(
      Layer.provide(Layer.succeed(HotSettings.CurrentHotSettings, { ...HotSettings.defaults, isOn: false }))
    ),
    scope
  )
).pipe(Effect.map((context) => Context.get(context, JobStores.JobStores)))

let server: Promise<JobStores.JobStores["Service"]> | undefined

/** A store and its number in the database. */
export interface NumberedStore {
  readonly store: JobStore.Service
  readonly number: number
}

/** A new store of a server that all tests of a file share. */
export const freshUnits: Effect.Effect<NumberedStore, unknown> = Effect.gen(function* () {
  const stores = yield* Effect.promise(() => (server ??= Effect.runPromise(makeServer)))
  const name = randomUUID()
  const store = yield* stores.get({ tenant: "test", store: name })
  return { store, number: yield* numberOf(name) }
})
