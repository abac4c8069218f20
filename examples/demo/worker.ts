/**
 * A worker of the demo, in a process of its own: `worker.ts URL`. It takes one file after another, says so on standard output, and
 * looks after the jobs of workers that died.
 */
import { RemoteJobStore } from "@jobwire/client/node"
import { JobStore } from "@jobwire/protocol"
import { Effect, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import { lease, pace, queue, task } from "./settings.ts"
import { report } from "./text.ts"

const Payload = Schema.Struct({ path: Schema.String })

const work = Effect.gen(function* () {
  const store = yield* JobStore.JobStore
  while (true) {
    const token = randomUUID()
    const claim = yield* store.claim({ queue, names: [task], token, lockDurationMs: lease })
    if (claim._tag === "Empty") {
      // A wake that went to a worker which then died is not told again, so no wait is without end.
      yield* Effect.raceFirst(store.awaitWake([queue], claim.wakeToken), Effect.sleep(lease))
      continue
    }
    const { path } = yield* Schema.decodeUnknownEffect(Payload)(claim.job.payload)
    console.log(`took ${claim.job.id}`)
    const exit = report(yield* Effect.promise(() => readFile(path, "utf8")))
    yield* Effect.sleep(pace)
    yield* store.ack(claim.job.id, token, { _tag: "Complete", exit })
    console.log(`done ${claim.job.id}`)
  }
})

const recover = Effect.gen(function* () {
  const store = yield* JobStore.JobStore
  while (true) {
    yield* Effect.sleep(lease / 4)
    yield* store.recoverStalled({ maxStalledCount: 3 })
  }
})

Effect.all([work, recover], { concurrency: "unbounded" }).pipe(
  Effect.provide(RemoteJobStore.layer({ url: process.argv[2] ?? "" })),
  Effect.runFork
)
