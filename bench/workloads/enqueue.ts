/** Enqueue: one job a call at 1, 16 and 64 callers, and many by the bulk call. Nobody works meanwhile. */
import { type Figure, place, type Workload } from "./Workload.ts"

const callerCounts = [1, 16, 64]

/** Jobs a second that were acknowledged. */
export const enqueue: Workload = {
  name: "enqueue",
  run: async ({ producer }, scale) => {
    const load = (callers: number, seconds: number) => producer.call("enqueue", { place, callers, seconds }, seconds)
    await load(64, scale.warmUpSeconds)
    const figures: Array<Figure> = []
    for (const callers of callerCounts) {
      const { count, seconds } = await load(callers, scale.enqueueSeconds)
      figures.push({ name: `enqueue@${callers}`, value: count / seconds })
    }
    const order = { places: [place], count: scale.bulk, seconds: scale.drainSeconds }
    const { count, seconds } = await producer.call("bulk", order, scale.drainSeconds)
    return [...figures, { name: "bulk", value: count / seconds }]
  }
}
