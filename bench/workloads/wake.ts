/**
 * Wake: how long an idle worker takes to begin, from the start of the enqueue call in one process to the start of the handler in
 * another. One job at a time, at moments that no timer can be in step with.
 */
import type { Session } from "../contenders/Session.ts"
import { workOff } from "./drained.ts"
import type { Scale } from "./Scale.ts"
import { place, type Workload } from "./Workload.ts"

// Between two jobs, in milliseconds: long enough for the worker to be idle again.
const gap = () => 20 + Math.random() * 60

// A job that did not come within this time was lost, or the worker sleeps too well.
const patienceMs = 10_000

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const wakeOnce = async ({ producer, worker }: Session): Promise<number> => {
  const woken = new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no worker woke within ${patienceMs} ms`)), patienceMs)
    worker.reports.once("woken", (latencyMs) => {
      clearTimeout(timer)
      resolve(latencyMs)
    })
  })
  const [latencyMs] = await Promise.all([woken, producer.call("sendMarked", place)])
  return latencyMs
}

// What an earlier workload left behind would keep the worker busy.
const workOffRest = async (session: Session, scale: Scale): Promise<void> => {
  const rest = await session.producer.call("unfinished", null)
  if (rest > 0) await workOff(session, [place], rest, { ...scale, drainSeconds: 30 })
  const left = await session.producer.call("unfinished", null)
  if (left > 0) throw new Error(`the queue could not be emptied: ${left} jobs are unfinished`)
}

const quantile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

/** The median and the 99th percentile, in milliseconds. */
export const wake: Workload = {
  name: "wake",
  group: "work",
  run: async (session, scale) => {
    await workOffRest(session, scale)
    await session.worker.call("work", [place])
    const latencies: Array<number> = []
    try {
      await pause(300)
      const end = performance.now() + scale.wakeSeconds * 1000
      while (latencies.length < scale.wakes && performance.now() < end) {
        latencies.push(await wakeOnce(session))
        await pause(gap())
      }
    } finally {
      await session.worker.call("stopWork", null)
    }
    const sorted = latencies.toSorted((a, b) => a - b)
    return [
      { name: "wake@p50", value: quantile(sorted, 0.5) },
      { name: "wake@p99", value: quantile(sorted, 0.99) }
    ]
  }
}
