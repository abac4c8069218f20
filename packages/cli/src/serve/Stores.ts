/** Where `jobwire serve` keeps its jobs: in a directory, or in memory. */
import { type JobStoreError } from "@jobwire/protocol"
import { type JobStores, MemoryJobStore, SqliteJobStore } from "@jobwire/server"
import { Effect, FileSystem, Layer, Path, type PlatformError } from "effect"
import { CommandFailure } from "../output/Failure.ts"

/** The database file in a data directory. */
export const databaseName = "jobwire.sqlite"

/** Where and how long jobs are kept. */
export interface StoreSettings {
  /** The data directory; absent for memory. */
  readonly data: string | undefined
  readonly historyTtlMs: number | undefined
  readonly synchronous: "full" | "normal"
}

const describe = (error: PlatformError.PlatformError): string => {
  switch (error.reason._tag) {
    case "PermissionDenied":
      return "this user may not write there; choose another directory with --data"
    case "AlreadyExists":
      return "there is a file of that name; choose another directory with --data"
    default:
      return error.reason.message
  }
}

const makeDirectory = Effect.fnUntraced(function* (data: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(data, { recursive: true }).pipe(
    Effect.andThen(fs.access(data, { writable: true })),
    Effect.mapError(
      (error) =>
        new CommandFailure({ message: `cannot use the data directory ${JSON.stringify(data)}: ${describe(error)}` })
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
