/** Producers and workers over the network, who insist until they have an answer, and note what they were answered. */
import { EnqueueRequest, type JobStore, type JobStoreError } from "@jobwire/protocol"
import { Effect, Schedule } from "effect"

const queue = "queue"
const names = ["a", "b"]
const lockDurationMs = 4000
// Longer than any outage of a test.
const patienceMs = 30_000

/** What was acknowledged. */
export class Recorder {
  readonly enqueued = new Set<string>()
  /** The tokens under which each job was acknowledged as completed. */
  readonly completed = new Map<string, Set<string>>()
  #count = 0
  readonly #waiting = new Set<{ readonly count: number; readonly resume: () => void }>()

  enqueue(id: string): void {
    this.enqueued.add(id)
    this.#tick()
  }

  complete(id: string, token: string): void {
    const tokens = this.completed.get(id) ?? new Set()
    this.completed.set(id, tokens.add(token))
    this.#tick()
  }

  /** Resolves when so many more calls were acknowledged. */
  more(calls: number): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const waiter = { count: this.#count + calls, resume: () => resume(Effect.void) }
      this.#waiting.add(waiter)
      return Effect.sync(() => this.#waiting.delete(waiter))
    })
  }

  #tick(): void {
    this.#count++
    for (const waiter of this.#waiting) {
      if (this.#count < waiter.count) continue
      this.#waiting.delete(waiter)
      waiter.resume()
    }
  }
}

/** Several ways to one store. */
export class Load {
  readonly recorder = new Recorder()
  readonly #stores: ReadonlyArray<JobStore.Service>
  #turn = 0
  #isFilling = true

  constructor(stores: ReadonlyArray<JobStore.Service>) {
    this.#stores = stores
  }

  /** Ends the producers; workers go on until nothing is left. */
  stopFilling(): void {
    this.#isFilling = false
  }

  /** Puts jobs in until told to stop. */
  produce(producer: number, turn = 0): Effect.Effect<void, unknown> {
    if (!this.#isFilling) return Effect.void
    return Effect.flatMap(this.#enqueue(producer, turn), () => this.produce(producer, turn + 1))
  }

  /** Takes jobs and completes them, until all is done. */
  work(worker: number, turn = 0): Effect.Effect<void, unknown> {
    return Effect.gen({ self: this }, function* () {
      const tokens = Array.from({ length: 1 + (worker % 3) }, (_, index) => `${worker}/${turn}/${index}`)
      const { empty, jobs } = yield* this.#insist((store) => store.claimMany({ queue, names, tokens, lockDurationMs }))
      yield* Effect.forEach(jobs, ({ job, token }) => this.#complete(job.id, token), { concurrency: "unbounded" })
      if (empty !== undefined && !this.#isFilling) {
        const { active, delayed, waiting } = yield* this.#insist((store) => store.counts())
        if (active + delayed + waiting === 0) return
      }
      if (empty !== undefined) yield* Effect.sleep(20)
      return yield* this.work(worker, turn + 1)
    })
  }

  /** Takes back what runs out. */
  get sweep(): Effect.Effect<never, unknown> {
    return Effect.forever(
      Effect.andThen(
        this.#insist((store) => store.recoverStalled({ maxStalledCount: 1_000_000 })),
        Effect.sleep(200)
      )
    )
  }

  #enqueue(producer: number, turn: number): Effect.Effect<void, JobStoreError> {
    const id = `${producer}/${turn}`
    const request = EnqueueRequest.make({ name: names[turn % 2] ?? "a", queue, payload: { id }, priority: turn % 3 })
    switch (turn % 4) {
      // Nobody can say whether a job without an id went in, when there is no answer.
      case 0:
        return Effect.ignore(Effect.map(this.#next.enqueue(request), (result) => this.recorder.enqueue(result.id)))
      case 1:
        return Effect.map(
          this.#insist((store) => store.enqueue({ ...request, id })),
          (result) => this.recorder.enqueue(result.id)
        )
      case 2: {
        const requests = [0, 1, 2].map((index) => Object.assign({}, request, { id: `${id}/${index}` }))
        return Effect.map(
          this.#insist((store) => store.enqueueMany(requests)),
          (results) => results.forEach((result) => this.recorder.enqueue(result.id))
        )
      }
      default:
        return Effect.map(
          this.#insist((store) => store.enqueue({ ...request, id, ...units(id) })),
          (result) => this.recorder.enqueue(result.id)
        )
    }
  }

  #complete(id: string, token: string): Effect.Effect<void, unknown> {
    return this.#insist((store) => store.ack(id, token, { _tag: "Complete", exit: token })).pipe(
      Effect.map(() => this.recorder.complete(id, token)),
      // It was out for too long.
      Effect.catchTag("LockLostError", () => Effect.void)
    )
  }

  get #next(): JobStore.Service {
    // The index is brought into the list.
    return this.#stores[this.#turn++ % this.#stores.length] as JobStore.Service
  }

  /** Makes a call until it is answered, by another way each time. */
  #insist<A, E extends { readonly _tag: string }>(
    call: (store: JobStore.Service) => Effect.Effect<A, E | JobStoreError>
  ): Effect.Effect<A, E | JobStoreError> {
    return Effect.suspend(() => {
      const until = Date.now() + patienceMs
      const pause = Schedule.jittered(Schedule.spaced("20 millis"))
      return Effect.retry(
        Effect.suspend(() => call(this.#next)),
        {
          schedule: pause,
          while: (error) => "isRetryable" in error && error.isRetryable === true && Date.now() < until
        }
      )
    })
  }
}

/** What takes a job out of reach of statements: its end is reported to a parent. */
const units = (id: string): Partial<EnqueueRequest> => ({
  dedupe: { key: id, ttlMs: undefined, extend: false, replace: false },
  parent: { flowName: "flow", flowId: "parent", childKey: id, parentStoreKey: "store", depth: 1 }
})
