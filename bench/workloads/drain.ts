/** Drain: jobs that wait, worked off by one worker process at its best concurrency, every one acknowledged. */
import { drainRate, warmUp } from "./drained.ts"
import { place, type Workload } from "./Workload.ts"

/** Jobs a second, from the start of the worker to the last acknowledgement. */
export const drain: Workload = {
  name: "drain",
  group: "work",
  run: async (session, scale) => {
    await warmUp(session, [place], scale)
    return [{ name: "drain", value: await drainRate(session, [place], scale) }]
  }
}
