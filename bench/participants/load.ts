/** Load on a store, from inside its process. */
import { payload } from "../contenders/payload.ts"
import type { Adapter, Job, Place, Store, Working } from "../contenders/Store.ts"
import type { Count } from "./Messages.ts"

const secondsSince = (start: number): number => (performance.now() - start) / 1000

const callersOf = (count: number, caller: () => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, caller))

/** Each caller enqueues one job after another. */
export const enqueue = async (store: Store, place: Place, callers: number, seconds: number): Promise<Count> => {
  const start = performance.now()
  const end = start + seconds * 1000
  const job: Job = { ...place, payload }
  let count = 0
  await callersOf(callers, async () => {
    while (performance.now() < end) {
      await store.enqueue(job)
      count += 1
    }
  })
  return { count, seconds: secondsSince(start) }
}

/** By the bulk call, in batches of the size and as many at once as the adapter says. */
export const bulk = async (
  store: Store,
  { callers, size }: Adapter["bulk"],
  places: ReadonlyArray<Place>,
  total: number,
  seconds: number
): Promise<Count> => {
  const start = performance.now()
  const jobs = places.map((place) => ({ ...place, payload }))
  let next = 0
  let count = 0
  await callersOf(callers, async () => {
    while (next < total && secondsSince(start) < seconds) {
      const from = next
      next = Math.min(total, next + size)
      const batch = Array.from({ length: next - from }, (_, index) => jobs[(from + index) % jobs.length])
      await store.enqueueMany(batch.filter((job) => job !== undefined))
      count += batch.length
    }
  })
  return { count, seconds: secondsSince(start) }
}

/** Works until so many were handled or the time is over, and stops in good order: acknowledging the last belongs to the time. */
export const drain = async (
  store: Store,
  places: ReadonlyArray<Place>,
  total: number,
  seconds: number
): Promise<Count> => {
  const start = performance.now()
  let count = 0
  let working: Working | undefined
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000)
    const handle = () => {
      count += 1
      if (count < total) return
      clearTimeout(timer)
      resolve()
    }
    store.work(places, handle).then((started) => {
      working = started
    }, reject)
  })
  await working?.stop()
  return { count, seconds: secondsSince(start) }
}
