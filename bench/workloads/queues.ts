/** Drain of as many jobs from thousands of queues as from one. */
import type { Place } from "../contenders/Store.ts"
import { drainRate, warmUp } from "./drained.ts"
import type { Scale } from "./Scale.ts"
import { place, type Workload } from "./Workload.ts"

const many = (scale: Scale): ReadonlyArray<Place> =>
  Array.from({ length: scale.queues }, (_, index) => ({ queue: `queue-${index}`, name: place.name }))

/** The same jobs in one queue, and spread over all: one worker process takes from all of them. */
export const queues: Workload = {
  name: "queues",
  needs: "queues",
  long: true,
  places: many,
  run: async (session, scale) => {
    await warmUp(session, [place], scale)
    const one = await drainRate(session, [place], scale)
    const all = await drainRate(session, many(scale), scale)
    return [
      { name: "queues@1", value: one },
      { name: `queues@${scale.queues}`, value: all }
    ]
  }
}
