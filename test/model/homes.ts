/** Where the stores of histories are: one home for each driver. */
import { JobStore } from "@jobwire/protocol"
import { MemoryJobStore, SqliteJobStore } from "@jobwire/server"
import { Effect, Layer } from "effect"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { folder } from "../support/fresh-sqlite.ts"
import * as Network from "../support/network.ts"
import type { Home } from "./run.ts"

/** What is in memory goes with the store: there is one store for the whole history, however often it is opened. */
export const memory: Home = Effect.map(MemoryJobStore.make(), (store) => Layer.succeed(JobStore.JobStore, store))

/** The store in memory behind a server, which is stopped and started while the store stays. */
export const remote = (transport: "websocket" | "http"): Home =>
  Effect.map(memory, (layer) => Network.remote(layer, transport))

/** A new database, closed. */
const makeSqlite = Effect.map(folder, (path) => {
  const filename = join(path, "jobs.db")
  return { filename, layer: SqliteJobStore.layer({ filename, synchronous: "normal" }) }
})

/** A file for each history. They are copies of one, as making a database takes longer than most histories. */
export const sqlite = Effect.gen(function* () {
  const original = yield* makeSqlite
  yield* Effect.scoped(Layer.build(original.layer))
  const home: Home = Effect.map(makeSqlite, ({ filename, layer }) => {
    copyFileSync(original.filename, filename)
    return layer
  })
  return home
})
