/** Where `jobwire serve` keeps its jobs: in a directory, or in memory. */
import { type JobStoreError } from "@jobwire/protocol"
import { type JobStores, MemoryJobStore, SqliteJobStore } from "@jobwire/server"
import { Effect, FileSystem, Layer, Path } from "effect"
import { CommandFailure } from "../output/Failure.ts"
import { fileProblem } from "../output/FileProblem.ts"

/** The database file in a data directory. */
export const databaseName = "jobwire.sqlite"

/** Where and how long jobs are kept. */
export interface StoreSettings {
  /** The data directory; absent for memory. */
  readonly data: string | undefined
  readonly historyTtlMs: number | undefined
  readonly synchronous: "full" | "normal"
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

/** The stores of a server. The directory is made when it is missing. */
export const layerStores = (
  settings: StoreSettings
): Layer.Layer<JobStores.JobStores, CommandFailure | JobStoreError, FileSystem.FileSystem | Path.Path> => {
  const { data, historyTtlMs, synchronous } = settings
  const options = historyTtlMs === undefined ? {} : { historyTtl: historyTtlMs }
  if (data === undefined) return MemoryJobStore.layerStores(options)
  return Layer.unwrap(
    Effect.gen(function* () {
      const path = yield* Path.Path
      yield* makeDirectory(data)
      const filename = path.join(data, databaseName)
      return SqliteJobStore.layerStores({ ...options, filename, synchronous })
    })
  )
}
