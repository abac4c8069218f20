/** BullMQ on Redis. Jobs have names, but a worker takes a queue's jobs whatever they are called. */
import { Queue, Worker } from "bullmq"
import { Redis } from "ioredis"
import { numberOf } from "../contenders/setting.ts"
import type { Adapter, Job, Payload, Place, Store } from "../contenders/Store.ts"

const adapter: Adapter = {
  bulk: { size: 1000, callers: 2 },
  prepare: async () => {},
  connect: async (target): Promise<Store> => {
    const { url } = target
    const concurrency = numberOf(target, "concurrency")
    const connection = new Redis(url, { maxRetriesPerRequest: null })
    const queues = new Map<string, Queue>()
    const queueOf = ({ queue }: Place): Queue => {
      const known = queues.get(queue) ?? new Queue(queue, { connection })
      queues.set(queue, known)
      return known
    }
    const add = (job: Job) => queueOf(job).add(job.name, job.payload)
    const addMany = async (jobs: ReadonlyArray<Job>) => {
      const groups = Map.groupBy(jobs, queueOf)
      for (const [queue, group] of groups) {
        await queue.addBulk(group.map(({ name, payload }) => ({ name, data: payload })))
      }
    }
    const work = (place: Place, handle: (payload: Payload) => void) => {
      // A worker blocks on its connection, so it has one of its own.
      const own = new Redis(url, { maxRetriesPerRequest: null })
      const worker = new Worker<Payload>(place.queue, async ({ data }) => handle(data), {
        connection: own,
        concurrency
      })
      worker.on("error", (error) => console.error(`bullmq: ${error.message}`))
      return async () => {
        await worker.close()
        own.disconnect()
      }
    }
    return {
      enqueue: add,
      enqueueMany: addMany,
      work: async (places, handle) => {
        const stops = places.map((place) => work(place, handle))
        return { stop: async () => void (await Promise.all(stops.map((stop) => stop()))) }
      },
      unfinished: async () => {
        const counts = await Promise.all(
          [...queues.values()].map((queue) => queue.getJobCountByTypes("wait", "active"))
        )
        return counts.reduce((sum, count) => sum + count, 0)
      },
      close: async () => {
        await Promise.all([...queues.values()].map((queue) => queue.close()))
        connection.disconnect()
      }
    }
  }
}
export default adapter
