/** A worker made of claim calls: for the stores that leave the loop to their users. */
import type { Payload, Place, Working } from "./Store.ts"

/** Jobs that were taken, and the call that acknowledges them. */
export interface Taken {
  readonly payloads: ReadonlyArray<Payload>
  readonly ack: () => Promise<unknown>
}

/** Nothing was there; `wait` resolves when there may be something, or when the signal says so. */
export interface Nothing {
  readonly wait: (signal: AbortSignal) => Promise<unknown>
}

/** Takes from one place. */
export type Take = (place: Place) => Promise<Taken | Nothing>

// Each caller has its share of the places; with more callers than places, several have the same.
const shareOf = (places: ReadonlyArray<Place>, caller: number, callers: number): ReadonlyArray<Place> =>
  places.length <= callers
    ? places.filter((_, index) => index === caller % places.length)
    : places.filter((_, index) => index % callers === caller)

/** Waits for one of these, and ends the others. */
const waitForOne = async (waits: ReadonlyArray<Nothing["wait"]>, stop: AbortSignal): Promise<void> => {
  const others = new AbortController()
  const either = AbortSignal.any([stop, others.signal])
  const running = waits.map((wait) => wait(either))
  try {
    await Promise.race(running)
  } finally {
    others.abort()
    await Promise.allSettled(running)
  }
}

/** Runs so many callers: each takes, handles, acknowledges, and waits when a round through its places brought nothing. */
export const claimLoops = (
  callers: number,
  places: ReadonlyArray<Place>,
  take: Take,
  handle: (payload: Payload) => void
): Working => {
  const stopping = new AbortController()
  const caller = async (index: number): Promise<void> => {
    const share = shareOf(places, index, callers)
    while (!stopping.signal.aborted) {
      const waits: Array<Nothing["wait"]> = []
      for (const place of share) {
        if (stopping.signal.aborted) return
        const found = await take(place)
        if ("wait" in found) {
          waits.push(found.wait)
          continue
        }
        found.payloads.forEach(handle)
        await found.ack()
      }
      if (waits.length === share.length && !stopping.signal.aborted) await waitForOne(waits, stopping.signal)
    }
  }
  const done = Promise.all(Array.from({ length: callers }, (_, index) => caller(index)))
  // Whoever stops the worker hears of it; until then it must not end the process.
  done.catch(() => {})
  return {
    stop: async () => {
      stopping.abort()
      await done
    }
  }
}
