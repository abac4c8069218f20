/** Load through a job store: so many callers, for so long. */
import { EnqueueRequest, JobStore } from "@jobwire/protocol"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"

const queue = "bench"
const name = "bench"

/** About 500 bytes of JSON. */
export const payload = { to: "somebody@example.org", template: "welcome", text: "x".repeat(430) }
const request = EnqueueRequest.make({ name, queue, payload })

/** How many calls finished, and in how many seconds. */
export interface Load {
  readonly calls: number
  readonly seconds: number
}

const run = Effect.fn("bench.run")(function* <E, R>(
  callers: number,
  seconds: number,
  once: Effect.Effect<boolean, E, R>
) {
  const start = performance.now()
  const end = start + seconds * 1000
  let calls = 0
  const caller = Effect.gen(function* () {
    while (performance.now() < end) {
      if (!(yield* once)) return
      calls += 1
    }
  })
  yield* Effect.all(
    Array.from({ length: callers }, () => caller),
    { concurrency: "unbounded", discard: true }
  )
  return { calls, seconds: (performance.now() - start) / 1000 }
})

/** Enqueues one job a call. */
export const enqueue = Effect.fn("bench.enqueue")(function* (callers: number, seconds: number) {
  const store = yield* JobStore.JobStore
  return yield* run(callers, seconds, Effect.as(store.enqueue(request), true))
})

/** Puts in this many jobs, in batches. */
export const fill = Effect.fn("bench.fill")(function* (jobs: number) {
  const store = yield* JobStore.JobStore
  const batch = 500
  for (let done = 0; done < jobs; done += batch) {
    yield* store.enqueueMany(Array.from({ length: Math.min(batch, jobs - done) }, () => request))
  }
})

/** Claims one job and acknowledges it, a lifecycle a call; a caller ends when the queue is empty. */
export const claimAndAck = Effect.fn("bench.claimAndAck")(function* (callers: number, seconds: number) {
  const store = yield* JobStore.JobStore
  const lifecycle = Effect.gen(function* () {
    const token = randomUUID()
    const claim = yield* store.claim({ queue, names: [name], token, lockDurationMs: 60_000 })
    if (claim._tag === "Empty") return false
    yield* store.ack(claim.job.id, token, { _tag: "Complete", exit: { ok: true } })
    return true
  })
  return yield* run(callers, seconds, lifecycle)
})
