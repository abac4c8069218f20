/** pg-boss: polling, or woken by NOTIFY. */
import { PgBoss } from "pg-boss"
import { claimLoops, type Take } from "../contenders/claimLoops.ts"
import type { Adapter, Payload, Place, Store, Target } from "../contenders/Store.ts"
import { numberOf } from "../contenders/setting.ts"
import { withSql } from "./postgres.ts"

const start = async ({ options, url }: Target): Promise<PgBoss> => {
  const boss = new PgBoss({
    connectionString: url,
    max: 20,
    schedule: false,
    useListenNotify: options["notify"] === true
  })
  boss.on("error", (error) => console.error(`pg-boss: ${error.message}`))
  await boss.start()
  return boss
}

// Many queues are worked off by hand: a worker for each would poll two thousand times in half a second.
const takeFrom =
  (boss: PgBoss, batchSize: number): Take =>
  async ({ queue }) => {
    const jobs = await boss.fetch<Payload>(queue, { batchSize })
    if (jobs.length === 0) return { wait: (signal) => pause(500, signal) }
    const ids = jobs.map(({ id }) => id)
    return { payloads: jobs.map(({ data }) => data), ack: () => boss.complete(queue, ids) }
  }

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener("abort", () => {
      clearTimeout(timer)
      resolve()
    })
  })

const workOne = async (boss: PgBoss, target: Target, { queue }: Place, handle: (payload: Payload) => void) => {
  const settings = {
    batchSize: numberOf(target, "batch"),
    localConcurrency: numberOf(target, "workers"),
    pollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true
  }
  await boss.work<Payload>(queue, settings, async (jobs) => {
    for (const { data } of jobs) handle(data)
  })
  return { stop: () => boss.offWork(queue, { wait: true }) }
}

const finished = (count: number): string => `
  insert into pgboss.job (name, data, state, started_on, completed_on)
  select name, data, 'completed', now(), now() from (select name, data from pgboss.job limit 1) j, generate_series(1, ${count})`

const adapter: Adapter = {
  bulk: { size: 1000, callers: 2 },
  prepare: async (target, places) => {
    const boss = await start(target)
    const queues = new Set(places.map(({ queue }) => queue))
    for (const queue of queues) await boss.createQueue(queue, { notify: target.options["notify"] === true })
    await boss.stop({ graceful: false })
  },
  connect: async (target): Promise<Store> => {
    const boss = await start(target)
    return {
      enqueue: ({ payload, queue }) => boss.send(queue, payload),
      enqueueMany: async (jobs) => {
        const queues = Map.groupBy(jobs, ({ queue }) => queue)
        for (const [queue, group] of queues)
          await boss.insert(
            queue,
            group.map(({ payload }) => ({ data: payload }))
          )
      },
      work: async (places, handle) =>
        places.length === 1 && places[0] !== undefined
          ? workOne(boss, target, places[0], handle)
          : claimLoops(numberOf(target, "workers"), places, takeFrom(boss, numberOf(target, "batch")), handle),
      unfinished: () =>
        withSql(target.url, (sql) => sql.number("select count(*) from pgboss.job where state < 'completed'")),
      fillFinished: (_place, count) => withSql(target.url, (sql) => sql.run(finished(count))),
      close: () => boss.stop({ graceful: false })
    }
  }
}
export default adapter
