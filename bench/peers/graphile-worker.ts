/** graphile-worker: as it is, or with its local queue and batched completions. A job's place is its task's name. */
import { Logger, makeWorkerUtils, run } from "graphile-worker"
import { once } from "node:events"
import { Pool } from "pg"
import { numberOf } from "../contenders/setting.ts"
import type { Adapter, Place, Payload, Store, Target } from "../contenders/Store.ts"
import { withSql } from "./postgres.ts"

const silent = new Logger(() => () => {})

const taskOf = ({ name, queue }: Place): string => `${queue}/${name}`

// As it advises: two more connections than jobs at once.
const plain = (target: Target) => {
  const concurrentJobs = numberOf(target, "jobs")
  return { concurrentJobs, maxPoolSize: concurrentJobs + 2 }
}

const batched = (target: Target) => ({
  ...plain(target),
  localQueue: { size: numberOf(target, "localQueue") },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0
})

const settingsOf = (target: Target) => {
  const worker = target.options["localQueue"] === undefined ? plain(target) : batched(target)
  return { logger: silent, preset: { worker: { connectionString: target.url, ...worker } } }
}

/** Resolves when no client of the pool is in use or asked for. */
const untilIdle = async (pool: Pool): Promise<void> => {
  while (pool.waitingCount > 0 || pool.idleCount < pool.totalCount) await once(pool, "release")
}

const report = (error: Error): void => console.error(`graphile-worker: ${error.message}`)

const work = async (target: Target, places: ReadonlyArray<Place>, handle: (payload: Payload) => void) => {
  const task = async (payload: unknown) => handle(payload as Payload) // what the bench put in
  const taskList = Object.fromEntries(places.map((place) => [taskOf(place), task]))
  const pool = new Pool({ connectionString: target.url, max: plain(target).maxPoolSize })
  pool.on("error", report)
  pool.on("connect", (client) => client.on("error", report))
  const runner = await run({ ...settingsOf(target), taskList, pgPool: pool, noHandleSignals: true })
  const stop = async () => {
    await runner.stop()
    // Without batches its completions are under way when it says that it has stopped.
    await untilIdle(pool)
    await pool.end()
  }
  return { stop }
}

const adapter: Adapter = {
  bulk: { size: 1000, callers: 2 },
  prepare: async (target) => {
    const utils = await makeWorkerUtils(settingsOf(target))
    await utils.migrate()
    await utils.release()
  },
  connect: async (target): Promise<Store> => {
    const utils = await makeWorkerUtils(settingsOf(target))
    return {
      enqueue: (job) => utils.addJob(taskOf(job), job.payload),
      enqueueMany: (jobs) => utils.addJobs(jobs.map((job) => ({ identifier: taskOf(job), payload: job.payload }))),
      work: (places, handle) => work(target, places, handle),
      unfinished: () => withSql(target.url, (sql) => sql.number("select count(*) from graphile_worker._private_jobs")),
      close: async () => {
        await utils.release()
      }
    }
  }
}
export default adapter
