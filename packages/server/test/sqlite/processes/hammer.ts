/**
 * Enqueues, claims and acks as fast as it can on the database in the first argument, and prints a line for each operation
 * after it was acknowledged: what a caller may rely on from then on. The second argument makes ids and tokens unique.
 */
import { EnqueueRequest, JobStore } from "@jobwire/protocol"
import { Effect } from "effect"
import { writeSync } from "node:fs"
import * as SqliteJobStore from "../../../src/drivers/sqlite/SqliteJobStore.ts"

const [, , filename = "", round = ""] = process.argv

// Written by the time the call returns, so that a kill takes nothing that was printed.
const acknowledged = (...words: ReadonlyArray<string>): void => {
  writeSync(1, `${words.join(" ")}\n`)
}

const work = (store: JobStore.Service, fiber: number) =>
  Effect.gen(function* () {
    for (let n = 0; ; n++) {
      const id = `job-${round}-${fiber}-${n}`
      const token = `token-${round}-${fiber}-${n}`
      yield* store.enqueue(EnqueueRequest.make({ id, name: `name-${n % 3}`, queue: "queue", payload: { n } }))
      acknowledged("enqueued", id)
      const names = ["name-0", "name-1", "name-2"]
      const claimed = yield* store.claim({ queue: "queue", names, token, lockDurationMs: 3_600_000 })
      if (claimed._tag === "Empty") continue
      acknowledged("claimed", claimed.job.id, token)
      if (n % 5 === 0) continue
      yield* store.ack(claimed.job.id, token, { _tag: "Complete", exit: { n } })
      acknowledged("acked", claimed.job.id, token, String(n))
    }
  })

const program = Effect.gen(function* () {
  const store = yield* JobStore.JobStore
  yield* Effect.all(
    Array.from({ length: 16 }, (_, fiber) => work(store, fiber)),
    { concurrency: "unbounded" }
  )
})

Effect.runFork(Effect.provide(program, SqliteJobStore.layer({ filename })))
