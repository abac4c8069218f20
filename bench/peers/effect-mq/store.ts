/** An effect-mq store as the bench sees it: its calls themselves, without the worker that it builds on them. */
import { JobStore } from "effect-mq"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { claimLoops, type Take } from "../../contenders/claimLoops.ts"
import type { Job, Payload, Store } from "../../contenders/Store.ts"

/** How many jobs one bulk call takes. */
export const bulk = { size: 1000, callers: 1 }

const requestOf = ({ name, payload, queue }: Job): JobStore.EnqueueRequest => ({
  id: undefined,
  name,
  queue: JobStore.QueueName(queue),
  payload,
  metadata: {},
  priority: 0,
  attemptsMax: 1,
  backoff: undefined,
  keep: undefined,
  timeoutMs: undefined,
  dedupe: undefined,
  trace: undefined,
  parent: undefined,
  delayMs: 0
})

const takeFrom =
  (store: JobStore.Service): Take =>
  async (place) => {
    const token = randomUUID()
    const queue = JobStore.QueueName(place.queue)
    const claim = store.claim({ queue, names: [place.name], token, lockDurationMs: 60_000 })
    const found = await Effect.runPromise(claim)
    if (found._tag === "Empty") {
      // The worker of effect-mq looks every five seconds too.
      const wait = Effect.raceFirst(store.awaitWake([queue], found.wakeToken), Effect.sleep("5 seconds"))
      return { wait: (signal) => Effect.runPromise(wait, { signal }).catch(unless(signal)) }
    }
    const { id, payload } = found.job
    const ack = () => Effect.runPromise(store.ack(id, token, { _tag: "Complete", exit: { ok: true } }))
    // The bench put the payload in; JSON brought it back.
    return { payloads: [payload as Payload], ack }
  }

const unless = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) throw error
}

/** Wraps a store. */
export const benchStore = (store: JobStore.Service, callers: number, close: () => Promise<void>): Store => ({
  enqueue: (job) => Effect.runPromise(store.enqueue(requestOf(job))),
  enqueueMany: (jobs) => Effect.runPromise(store.enqueueMany(jobs.map(requestOf))),
  work: async (places, handle) => claimLoops(callers, places, takeFrom(store), handle),
  unfinished: async () => {
    const counts = await Effect.runPromise(store.counts())
    return counts.waiting + counts.delayed + counts.active + counts["waiting-children"]
  },
  close
})
