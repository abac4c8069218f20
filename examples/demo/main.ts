/**
 * The demo: every text file of this repository becomes a job, two worker processes read them over the network, one is killed with -9
 * in the middle of a file, and still every file is counted exactly once. Ends with 1 if it is not so.
 */
import { RemoteJobStore } from "@jobwire/client/node"
import { EnqueueRequest, type JobRecord, JobStore } from "@jobwire/protocol"
import { Effect, Schema } from "effect"
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Running, startServer, startWorker } from "./processes.ts"
import { queue, task } from "./settings.ts"
import { report, TextReport } from "./text.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const skipped = new Set(["node_modules", "dist", ".git", ".jobwire", "coverage"])
const texts = /\.(ts|md|json|ya?ml|sql)$|(^|\/)(LICENSE|Dockerfile)$/

const files = globSync("**/*", { cwd: root, exclude: (path) => skipped.has(basename(path)) })
  .filter((path) => texts.test(path))
  .toSorted()
const idOf = (path: string) => encodeURIComponent(path)

const enqueueAll = Effect.gen(function* () {
  const store = yield* JobStore.JobStore
  const requests = files.map((path) =>
    EnqueueRequest.make({ id: idOf(path), name: task, queue, payload: { path: join(root, path) } })
  )
  yield* store.enqueueMany(requests)
})

/** Waits until nothing is left to do; asks again every tenth of a second. */
const drained = Effect.gen(function* () {
  const store = yield* JobStore.JobStore
  while (true) {
    const { active, completed, waiting } = yield* store.counts(queue)
    if (active + waiting === 0) return completed
    yield* Effect.sleep(100)
  }
})

const finished = Effect.gen(function* () {
  const store = yield* JobStore.JobStore
  const jobs: Array<JobRecord> = []
  let cursor: string | undefined
  do {
    const page = yield* store.list({ queue, states: ["completed"], order: "asc", limit: 100, cursor })
    jobs.push(...page.items)
    cursor = page.cursor
  } while (cursor !== undefined)
  return jobs
})

const ledgerOf = Effect.fn("demo.ledgerOf")(function* (id: string) {
  const store = yield* JobStore.JobStore
  const runs = yield* store.getAttempts(id)
  return runs.map((run) => `run ${run.attempt} ${run.outcome}`).join(", ")
})

/** Two workers; the first is killed as soon as it has taken its fifth file. */
const startWorkers = (url: string) => {
  const killed = Promise.withResolvers<string>()
  let taken = 0
  const first: Running = startWorker(url, (id) => {
    taken += 1
    if (taken === 5) first.stop("SIGKILL").then(() => killed.resolve(id), killed.reject)
  })
  const second = startWorker(url, () => {})
  return { second, killed: killed.promise }
}

const compare = (jobs: ReadonlyArray<JobRecord>): ReadonlyArray<string> => {
  const wrong: Array<string> = []
  const byId = new Map(jobs.map((job) => [job.id, job]))
  for (const path of files) {
    const found = byId.get(idOf(path))?.exit
    const expected = report(readFileSync(join(root, path), "utf8"))
    if (JSON.stringify(found) !== JSON.stringify(expected)) wrong.push(path)
  }
  return wrong
}

const printResult = (jobs: ReadonlyArray<JobRecord>) => {
  const rows = jobs.map((job) => ({
    path: decodeURIComponent(job.id),
    ...Schema.decodeUnknownSync(TextReport)(job.exit)
  }))
  const words = rows.reduce((sum, row) => sum + row.words, 0)
  const [longest] = rows.toSorted((a, b) => b.longestLine.length - a.longestLine.length)
  console.log(`\n${jobs.length} files, ${words} words. The longest line has ${longest?.longestLine.length} characters:`)
  console.log(`  ${longest?.path}, line ${longest?.longestLine.number}`)
  console.log("\nMost words:")
  for (const row of rows.toSorted((a, b) => b.words - a.words).slice(0, 8)) {
    console.log(`  ${String(row.words).padStart(7)}  ${row.path}`)
  }
}

const demo = Effect.fn("demo")(function* (url: string) {
  yield* enqueueAll
  console.log(`Enqueued ${files.length} jobs, one a file, at ${url}`)
  const workers = startWorkers(url)
  const victim = yield* Effect.promise(() => workers.killed)
  console.log(`Killed a worker with -9 while it held ${decodeURIComponent(victim)}`)
  yield* drained
  yield* Effect.promise(() => workers.second.stop("SIGTERM"))
  const jobs = yield* finished
  printResult(jobs)
  console.log("\nThe ledger of the file whose worker was killed:")
  console.log(`  ${decodeURIComponent(victim)}: ${yield* ledgerOf(victim)}`)
  const ledgers = yield* Effect.forEach(jobs, (job) => ledgerOf(job.id), { concurrency: 16 })
  const completions = ledgers.map((ledger) => ledger.split(", ").filter((run) => run.endsWith("completed")).length)
  const once = completions.filter((count) => count === 1).length
  const wrong = compare(jobs)
  console.log(
    `\n${once} of ${files.length} files were counted exactly once; ${wrong.length} results differ from a count here.`
  )
  return once === files.length && wrong.length === 0
})

const folder = mkdtempSync(join(tmpdir(), "jobwire-demo-"))
const server = await startServer(folder)
const right = await Effect.runPromise(
  Effect.provide(demo(server.url), RemoteJobStore.layer({ url: server.url }))
).finally(() => server.stop("SIGTERM"))
rmSync(folder, { recursive: true, force: true })
process.exit(right ? 0 : 1)
