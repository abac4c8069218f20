/** A producer beside a working worker: it keeps a bounded number of jobs ahead, so that both ends are busy and neither runs away. */
import { payload } from "../contenders/payload.ts"
import type { Job, Place, Store } from "../contenders/Store.ts"

/** A producer at work. */
export interface Production {
  /** How many of its jobs are finished by now. */
  readonly progress: (finished: number) => void
  /** Ends it; resolves with how many jobs it put in. */
  readonly stop: () => Promise<number>
}

/** Starts so many callers. */
export const produce = (store: Store, place: Place, callers: number, ahead: number): Production => {
  const job: Job = { ...place, payload }
  const stopping = new AbortController()
  let sent = 0
  let finished = 0
  let blocked: Array<() => void> = []
  const release = () => {
    const waiting = blocked
    blocked = []
    for (const resume of waiting) resume()
  }
  const caller = async () => {
    while (!stopping.signal.aborted) {
      if (sent - finished >= ahead) {
        await new Promise<void>((resolve) => blocked.push(resolve))
        continue
      }
      sent += 1
      await store.enqueue(job)
    }
  }
  const done = Promise.all(Array.from({ length: callers }, caller))
  // Whoever stops it hears of a failure; until then it must not end the process.
  done.catch(() => {})
  return {
    progress: (count) => {
      finished = count
      release()
    },
    stop: async () => {
      stopping.abort()
      release()
      await done
      return sent
    }
  }
}
