/** beanstalkd with its binlog. A queue is a tube; its jobs have no names. */
import { numberOf } from "../../contenders/setting.ts"
import type { Adapter, Job, Payload, Place, Store, Target, Working } from "../../contenders/Store.ts"
import { type Connection, open } from "./Connection.ts"

// Seconds that a job may be held.
const timeToRun = 60

const expect = async (reply: ReturnType<Connection["send"]>, word: string) => {
  const found = await reply
  if (found.words[0] !== word) throw new Error(`beanstalkd answered ${found.words.join(" ")} where ${word} was due`)
  return found
}

/** Puts a job into its tube. Commands are answered in order, so the tube can be named without waiting for the answer. */
const putOver = (connection: Connection) => {
  let tube = "default"
  return ({ payload, queue }: Job): Promise<unknown> => {
    const use = queue === tube ? undefined : expect(connection.send(`use ${queue}`), "USING")
    tube = queue
    const put = expect(connection.send(`put 0 0 ${timeToRun}`, JSON.stringify(payload)), "INSERTED")
    return use === undefined ? put : Promise.all([use, put])
  }
}

/** One reserver: a delete goes out together with the next reserve. */
const reserve = async (address: string, places: ReadonlyArray<Place>, handle: (payload: Payload) => void) => {
  const connection = await open(address)
  for (const { queue } of places) await expect(connection.send(`watch ${queue}`), "WATCHING")
  await expect(connection.send("ignore default"), "WATCHING")
  const stopping = new AbortController()
  let settled: Promise<unknown> = Promise.resolve()
  const loop = async () => {
    while (!stopping.signal.aborted) {
      const { body, words } = await expect(connection.send("reserve"), "RESERVED")
      // Reserved while the worker was being stopped: closing the connection gives it back.
      if (stopping.signal.aborted) return
      handle(JSON.parse(body))
      settled = expect(connection.send(`delete ${words[1]}`), "DELETED")
      settled.catch(() => {})
    }
  }
  const done = loop().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error
  })
  done.catch(() => {})
  return async () => {
    stopping.abort()
    await settled
    connection.close()
    await done
  }
}

const work = async (
  target: Target,
  places: ReadonlyArray<Place>,
  handle: (payload: Payload) => void
): Promise<Working> => {
  const reservers = numberOf(target, "connections")
  const stops = await Promise.all(Array.from({ length: reservers }, () => reserve(target.url, places, handle)))
  return { stop: async () => void (await Promise.all(stops.map((stop) => stop()))) }
}

const adapter: Adapter = {
  bulk: { size: 1000, callers: 1 },
  prepare: async () => {},
  connect: async (target): Promise<Store> => {
    const connection = await open(target.url)
    const put = putOver(connection)
    return {
      enqueue: put,
      // It has no bulk call: the commands go out one after another without waiting for answers.
      enqueueMany: (jobs) => Promise.all(jobs.map(put)),
      work: (places, handle) => work(target, places, handle),
      unfinished: async () => {
        const { body } = await expect(connection.send("stats"), "OK")
        const count = (state: string) => Number(new RegExp(`^current-jobs-${state}: (\\d+)$`, "m").exec(body)?.[1])
        return count("ready") + count("reserved") + count("delayed")
      },
      close: async () => connection.close()
    }
  }
}
export default adapter
