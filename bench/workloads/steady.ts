/** Enqueue and work at once: a producer process with 64 callers and a worker process, in a steady state. */
import type { Session } from "../contenders/Session.ts"
import { place, type Workload } from "./Workload.ts"

const callers = 64

interface Progress {
  readonly count: number
  readonly atMs: number
}

const pause = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

/** The next report of the worker. */
const nextProgress = ({ worker }: Session): Promise<Progress> =>
  new Promise((resolve) => worker.reports.once("finished", (count, atMs) => resolve({ count, atMs })))

/** Jobs a second that were finished. The producer is never more than a bounded number ahead. */
export const steady: Workload = {
  name: "steady",
  group: "work",
  run: async (session, scale) => {
    const { producer, worker } = session
    const inform = (count: number) => void producer.call("progress", count).catch(() => {})
    worker.reports.on("finished", inform)
    try {
      await worker.call("work", [place])
      await producer.call("produce", { place, callers, ahead: scale.ahead })
      await pause(scale.warmUpSeconds)
      const first = await nextProgress(session)
      await pause(scale.steadySeconds)
      const last = await nextProgress(session)
      await producer.call("stopProduce", null)
      return [{ name: "steady", value: ((last.count - first.count) / (last.atMs - first.atMs)) * 1000 }]
    } finally {
      worker.reports.off("finished", inform)
      await worker.call("stopWork", null)
    }
  }
}
