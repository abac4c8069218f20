/**
 * kill -9 at any moment: whatever was acknowledged is there when the database is opened again, and its rules hold.
 * `JOBWIRE_SEED` repeats the moments.
 */
import { assert, describe, it } from "@effect/vitest"
import { JobStore } from "@jobwire/protocol"
import { Effect } from "effect"
import * as fc from "fast-check"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { DatabaseSync } from "node:sqlite"
import * as SqliteJobStore from "../../src/drivers/sqlite/SqliteJobStore.ts"
import { seed } from "../core/support/property.ts"
import { brokenRules } from "./invariants.ts"
import { newFilename } from "./support.ts"

const rounds = 4

/** Runs the process and kills it after so many acknowledged operations; answers all that were acknowledged. */
const killAfter = (filename: string, round: number, lines: number): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const script = join(import.meta.dirname, "processes", "hammer.ts")
  const child = spawn(process.execPath, ["--conditions=jobwire:source", script, filename, String(round)], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const acknowledged: Array<ReadonlyArray<string>> = []
  const reader = createInterface(child.stdout)
  reader.on("line", (line) => {
    acknowledged.push(line.split(" "))
    if (acknowledged.length === lines) child.kill("SIGKILL")
  })
  return Promise.all([once(child, "exit"), once(reader, "close")]).then(() => acknowledged)
}

const holdersOf = (acknowledged: ReadonlyArray<ReadonlyArray<string>>): ReadonlyMap<string, string> => {
  const holders = new Map<string, string>()
  for (const [what, id = "", token = ""] of acknowledged) {
    if (what !== "claimed") continue
    assert.isFalse(holders.has(id), `${id} was handed out twice, to ${holders.get(id)} and to ${token}`)
    holders.set(id, token)
  }
  return holders
}

const checkOne = Effect.fnUntraced(function* (store: JobStore.Service, acknowledged: ReadonlyArray<string>) {
  const [what, id = "", token = "", n] = acknowledged
  const job = yield* Effect.flatMap(store.getJob(id), (found) => Effect.fromOption(found))
  if (what === "claimed") assert.include(["active", "completed"], job.state)
  if (what !== "acked") return
  assert.strictEqual(job.state, "completed")
  assert.deepStrictEqual(job.exit, { n: Number(n) })
  assert.lengthOf(yield* store.getAttempts(id), 1)
  // The same ack again is known, also after the restart.
  yield* store.ack(id, token, { _tag: "Complete", exit: { n: Number(n) } })
})

const check = Effect.fnUntraced(function* (
  store: JobStore.Service,
  acknowledged: ReadonlyArray<ReadonlyArray<string>>
) {
  const holders = holdersOf(acknowledged)
  yield* Effect.forEach(acknowledged, (one) => checkOne(store, one), { concurrency: 100, discard: true })
  const active = yield* store.list({ states: ["active"], limit: 1 })
  for (const { id } of active.items) {
    const token = holders.get(id)
    if (token === undefined) continue
    const again = yield* store.claim({ queue: "queue", names: [], token, lockDurationMs: 1 })
    assert.deepStrictEqual(again._tag === "Claimed" ? again.job.id : again, id)
  }
})

describe("kill -9", () => {
  it.live(
    `loses nothing that was acknowledged (seed ${seed})`,
    () =>
      Effect.gen(function* () {
        const filename = yield* newFilename
        const moments = fc.sample(fc.integer({ min: 1, max: 1500 }), { seed, numRuns: rounds })
        const acknowledged: Array<ReadonlyArray<string>> = []
        for (const [round, lines] of moments.entries()) {
          acknowledged.push(...(yield* Effect.promise(() => killAfter(filename, round, lines))))
          assert.isAtLeast(acknowledged.length, lines)
          yield* Effect.flatMap(JobStore.JobStore, (store) => check(store, acknowledged)).pipe(
            Effect.provide(SqliteJobStore.layer({ filename })),
            Effect.scoped
          )
          const db = new DatabaseSync(filename)
          assert.deepStrictEqual(brokenRules(db), [], `seed ${seed}, round ${round}`)
          db.close()
        }
      }),
    120_000
  )
})
