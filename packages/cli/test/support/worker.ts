/** A worker in this process, on a memory store, running real programs. */
import { EnqueueRequest, JobStore, JobStoreError } from "@jobwire/protocol"
import { MemoryJobStore } from "@jobwire/server"
import { Deferred, Effect, Fiber, Option, Queue } from "effect"
import { shellCommand } from "../../src/exec/Program.ts"
import { work } from "../../src/exec/Worker.ts"
import type { WorkerOptions } from "../../src/exec/WorkerContext.ts"
import type { WorkerEvent } from "../../src/exec/WorkerEvents.ts"

/** Runs an effect with a fresh memory store, on the live clock. */
export const withStore = <A, E>(effect: Effect.Effect<A, E, JobStore.JobStore>): Promise<A> =>
  Effect.runPromise(Effect.provide(effect, MemoryJobStore.layer))

type Request = Partial<typeof EnqueueRequest.Type>

/** Enqueues a job named `job` in queue `default`, with these fields. */
export const enqueue = Effect.fnUntraced(function* (fields: Request = {}) {
  const store = yield* JobStore.JobStore
  const { id } = yield* store.enqueue(EnqueueRequest.make({ name: "job", queue: "default", ...fields }))
  return id
})

/** The record of a job that must be there. */
export const job = Effect.fnUntraced(function* (id: string) {
  const store = yield* JobStore.JobStore
  return Option.getOrThrow(yield* store.getJob(id))
})

/** What a test says about its worker. */
export type Settings = Partial<Omit<WorkerOptions, "report">> & { readonly exec?: string }

const toOptions = ({ exec = "true", ...settings }: Settings, events: Queue.Queue<WorkerEvent>): WorkerOptions => ({
  queue: "default",
  names: ["job"],
  concurrency: 1,
  leaseMs: 30_000,
  graceMs: 2000,
  maxStalled: 1,
  untilEmpty: false,
  env: {},
  forwardStderr: false,
  command: shellCommand(exec),
  ...settings,
  report: (event) => Queue.offerUnsafe(events, event)
})

/** A worker that runs beside the test. */
export interface RunningWorker {
  /** Waits for the next event of that kind. */
  readonly next: <Tag extends WorkerEvent["_tag"]>(tag: Tag) => Effect.Effect<Extract<WorkerEvent, { _tag: Tag }>>
  /** Asks it to stop, and waits until it has. */
  readonly stop: Effect.Effect<void>
}

/** Starts a worker. */
export const start = Effect.fnUntraced(function* (settings: Settings) {
  const events = yield* Queue.unbounded<WorkerEvent>()
  const stopping = yield* Deferred.make<void>()
  const fiber = yield* Effect.forkChild(Effect.exit(work(toOptions(settings, events), stopping)))
  const next: RunningWorker["next"] = (tag) =>
    Effect.gen(function* () {
      for (;;) {
        const event = yield* Queue.take(events)
        // The tag was compared.
        if (event._tag === tag) return event as Extract<WorkerEvent, { _tag: typeof tag }>
      }
    })
  const worker: RunningWorker = {
    next,
    stop: Effect.andThen(Deferred.succeed(stopping, undefined), Effect.asVoid(Fiber.await(fiber)))
  }
  return worker
})

/** Works until nothing is left. */
export const drain = Effect.fnUntraced(function* (settings: Settings) {
  const events = yield* Queue.unbounded<WorkerEvent>()
  const stopping = yield* Deferred.make<void>()
  return yield* work(toOptions({ ...settings, untilEmpty: true }, events), stopping)
})

/** The store of the test with some operations replaced: for what a network does. */
export const withFaults =
  (faults: (store: JobStore.Service) => Partial<JobStore.Service>) =>
  <A, E>(effect: Effect.Effect<A, E, JobStore.JobStore>): Effect.Effect<A, E, JobStore.JobStore> =>
    Effect.flatMap(JobStore.JobStore, (store) =>
      Effect.provideService(effect, JobStore.JobStore, { ...store, ...faults(store) })
    )

/** What a call to a server that is away fails with. */
export const unavailable = Effect.fail(
  new JobStoreError({
    message: "the server is away",
    reason: { _tag: "Unavailable", url: undefined, sent: true }
  })
)
