/** A Jobwire store, remote or in this process, as the bench sees it. */
import { EnqueueRequest, type JobStore } from "@jobwire/protocol"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { claimLoops, type Take } from "../contenders/claimLoops.ts"
import type { Job, Payload, Store } from "../contenders/Store.ts"

/** How a worker is run: jobs of one `claimMany` at most, and how many such loops are under way. */
export interface Shape {
  readonly batch: number
  readonly callers: number
}

/** How many jobs one `enqueueMany` of the bench takes, and how many are under way. */
export const bulk = { size: 500, callers: 4 }

const requestOf = ({ name, payload, queue }: Job) => EnqueueRequest.make({ name, queue, payload: { ...payload } })

// The bench put the payload in; JSON brought it back.
const payloadOf = (payload: unknown): Payload => payload as Payload

const outcome = { _tag: "Complete", exit: { ok: true } } as const

// Each claim asks for twice of what the last one brought: to look for many that are not there costs, too.
const takeFrom = (store: JobStore.Service, batch: number): Take => {
  let size = 1
  return async ({ name, queue }) => {
    const tokens = Array.from({ length: size }, () => randomUUID())
    const claims = store.claimMany({ queue, names: [name], tokens, lockDurationMs: 60_000 })
    const { empty, jobs } = await Effect.runPromise(claims)
    size = Math.max(1, Math.min(batch, 2 * jobs.length))
    if (jobs.length === 0) {
      if (empty === undefined) throw new Error("a claim brought neither jobs nor a reason to wait")
      return { wait: (signal) => untilAborted(store.awaitWake([queue], empty.wakeToken), signal) }
    }
    const acks = jobs.map(({ job, token }) => ({ id: job.id, token, outcome }))
    const ack = async () => {
      const results = await Effect.runPromise(store.ackMany(acks))
      const refused = results.find(({ _tag }) => _tag !== "Acked")
      if (refused !== undefined) throw new Error(`an ack was refused: ${JSON.stringify(refused)}`)
    }
    return { payloads: jobs.map(({ job }) => payloadOf(job.payload)), ack }
  }
}

const untilAborted = (wait: Effect.Effect<void, unknown>, signal: AbortSignal): Promise<void> =>
  Effect.runPromise(wait, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })

/** Wraps a store; `close` is what ends it. */
export const benchStore = (store: JobStore.Service, shape: Shape, close: () => Promise<void>): Store => ({
  enqueue: (job) => Effect.runPromise(store.enqueue(requestOf(job))),
  enqueueMany: (jobs) => Effect.runPromise(store.enqueueMany(jobs.map(requestOf))),
  work: async (places, handle) => claimLoops(shape.callers, places, takeFrom(store, shape.batch), handle),
  unfinished: async () => {
    const counts = await Effect.runPromise(store.counts())
    return counts.waiting + counts.delayed + counts.active + counts["waiting-children"]
  },
  close
})
