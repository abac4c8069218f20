/** The stores of `jobwire serve`: in a directory, in memory, or in a PostgreSQL database. */
import type { JobStoreError } from "@jobwire/protocol"
import { JobStores, MemoryJobStore, SqliteJobStore } from "@jobwire/server"
import { Effect, FileSystem, Layer, Path } from "effect"
import { databaseFailure, driver } from "../database/Database.ts"
import { CommandFailure } from "../output/Failure.ts"
import { fileProblem } from "../output/FileProblem.ts"
import type { Place } from "./Place.ts"

/** The database file in a data directory. */
export const databaseName = "jobwire.sqlite"

interface Options {
  readonly historyTtl?: number
}

const makeDirectory = Effect.fnUntraced(function* (data: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(data, { recursive: true }).pipe(
    Effect.andThen(fs.access(data, { writable: true })),
    Effect.mapError(
      (error) =>
        new CommandFailure({
          message: `cannot use the data directory ${JSON.stringify(data)}: ${fileProblem(error)}`,
          hint: "--data names another one"
        })
    )
  )
})

const layerDirectory = ({ data, synchronous }: Extract<Place, { _tag: "Directory" }>, options: Options) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const path = yield* Path.Path
      yield* makeDirectory(data)
      return SqliteJobStore.layerStores({ ...options, filename: path.join(data, databaseName), synchronous })
    })
  )

const layerPostgres = ({ _tag, database, ...settings }: Extract<Place, { _tag: "Postgres" }>, options: Options) =>
  Layer.unwrap(
    Effect.map(driver, ({ layerStores }) =>
      layerStores({ ...options, ...settings, url: database.url, schema: database.schema })
    )
  ).pipe(Layer.catch((error) => Layer.effect(JobStores.JobStores, Effect.fail(databaseFailure(database, error)))))

/** The stores of a server. A data directory is made when it is missing; a schema only when `migrate` says so. */
export const layerStores = (
  place: Place,
  historyTtlMs: number | undefined
): Layer.Layer<JobStores.JobStores, CommandFailure | JobStoreError, FileSystem.FileSystem | Path.Path> => {
  const options = historyTtlMs === undefined ? {} : { historyTtl: historyTtlMs }
  switch (place._tag) {
    case "Memory":
      return MemoryJobStore.layerStores(options)
    case "Directory":
      return layerDirectory(place, options)
    case "Postgres":
      return layerPostgres(place, options)
  }
}
