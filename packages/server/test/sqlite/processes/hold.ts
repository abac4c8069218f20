/** Opens the database in the argument, puts one job in, says so, and stays. */
import { EnqueueRequest, JobStore } from "@jobwire/protocol"
import { Effect, Layer } from "effect"
import { writeSync } from "node:fs"
import * as SqliteJobStore from "../../../src/drivers/sqlite/SqliteJobStore.ts"

const [, , filename = ""] = process.argv

const hold = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* JobStore.JobStore
    yield* store.enqueue(EnqueueRequest.make({ id: "held", name: "job", queue: "queue" }))
    writeSync(1, "held\n")
  })
)

Effect.runFork(Layer.launch(Layer.provide(hold, SqliteJobStore.layer({ filename }))))
