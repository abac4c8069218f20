/** A worker for a rare name: its jobs stand behind many of other names in the same queue. */
import { drainRate, put, warmUp, workOff } from "./drained.ts"
import { place, type Workload } from "./Workload.ts"

const rare = { queue: place.queue, name: "rare" }
const other = { queue: place.queue, name: "other" }

/** Jobs of the rare name a second, alone in the queue and behind the others. */
export const names: Workload = {
  name: "names",
  needs: "names",
  long: true,
  places: () => [rare, other],
  run: async (session, scale) => {
    const few = { ...scale, drain: scale.rare }
    await warmUp(session, [rare], scale)
    const alone = await drainRate(session, [rare], few)
    // The quick ways copy a job that is there.
    await put(session, [other], 1, scale)
    await session.producer.call("fillWaiting", { place: other, count: scale.others }, 180)
    const { count } = await put(session, [rare], scale.rare, scale)
    const done = await workOff(session, [rare], count, scale)
    return [
      { name: "names@0", value: alone },
      { name: `names@${scale.others}`, value: done.count / done.seconds }
    ]
  }
}
