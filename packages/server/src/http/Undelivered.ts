/**
 * Jobs that were claimed for a caller who is gone are given back at once, as by `release`: no attempt spent, the place in line kept.
 * A caller who is gone before the claim is made takes none. Which jobs these are is said by {@link ClaimTalks}.
 */
import type { ClaimedJob, JobStore, JobStoreError } from "@jobwire/protocol"
import { Effect, Exit, Fiber, FiberSet, Layer } from "effect"
import { JobStores } from "../JobStores.ts"
import { sleep } from "../LiveClock.ts"
import { ClaimTalks } from "./ClaimTalks.ts"
import { CurrentDelivery, type Delivery } from "./Delivery.ts"

// A store that is away for longer has the lease bring the job back.
const pausesMs = [50, 200, 1000, 3000] as const

/** Gives one job back; a job that the token does not hold any more needs nothing. */
const release = Effect.fnUntraced(function* (store: JobStore.Service, id: string, token: string) {
  for (const pauseMs of [...pausesMs, undefined]) {
    const exit = yield* Effect.exit(store.release(id, token))
    if (Exit.isSuccess(exit))
      return yield* Effect.logDebug("a job whose claim could not be answered was given back", id)
    const error = Exit.findErrorOption(exit)
    if (error._tag === "Some" && error.value._tag !== "JobStoreError") return
    const isWorthAgain = error._tag === "Some" && error.value._tag === "JobStoreError" && error.value.isRetryable
    if (!isWorthAgain || pauseMs === undefined) {
      const what = `the claim of job ${id} could not be answered, and the job not be given back: it waits for its lease to end`
      return yield* Effect.logWarning(what, exit.cause)
    }
    yield* sleep(pauseMs)
  }
})

type Run = (effect: Effect.Effect<void>) => Fiber.Fiber<void>

/** The jobs of one store that are being given back, by the keys of their tokens. */
class Returns {
  readonly #store: JobStore.Service
  readonly #run: Run
  readonly #fibers = new Map<string, Fiber.Fiber<void>>()

  constructor(store: JobStore.Service, run: Run) {
    this.#store = store
    this.#run = run
  }

  begin(key: string, token: string, id: string): void {
    const fiber = this.#run(Effect.uninterruptible(release(this.#store, id, token)))
    this.#fibers.set(key, fiber)
    fiber.addObserver(() => {
      if (this.#fibers.get(key) === fiber) this.#fibers.delete(key)
    })
  }

  /** Waits for those of the keys: else a claim would get the job of its token in the moment before that is taken away. */
  ended(keys: ReadonlyArray<string>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const fibers = this.#fibers.size === 0 ? [] : keys.flatMap((key) => this.#fibers.get(key) ?? [])
      return fibers.length === 0 ? Effect.void : Effect.andThen(Fiber.awaitAll(fibers), this.ended(keys))
    })
  }
}

interface Claim {
  readonly queue: string
  readonly tokens: ReadonlyArray<string>
}

const keyOf = (queue: string, token: string): string => `${queue.length}:${queue}${token}`

/** A store whose claims follow their answers. */
const followed = (store: JobStore.Service, run: Run): JobStore.Service => {
  const talks = new ClaimTalks()
  const returns = new Returns(store, run)

  const ended = ({ queue, tokens }: Claim, jobs: ReadonlyArray<ClaimedJob>, wasDelivered: boolean) => {
    const given = new Map(jobs.map(({ job, token }) => [token, job]))
    for (const token of tokens) {
      const key = keyOf(queue, token)
      const owed = talks.end(key, given.get(token), wasDelivered)
      if (owed !== undefined) returns.begin(key, token, owed)
    }
  }

  const follow = <A>(
    claim: Claim,
    call: Effect.Effect<A, JobStoreError>,
    jobsOf: (answer: A) => ReadonlyArray<ClaimedJob>
  ) => {
    const keys = claim.tokens.map((token) => keyOf(claim.queue, token))
    const carryOut = (delivery: Delivery) =>
      Effect.clockWith((clock) => {
        if (delivery.isLost) return Effect.interrupt
        const now = clock.currentTimeMillisUnsafe()
        for (const key of keys) talks.begin(key, now)
        return Effect.onExit(call, (exit) =>
          Effect.sync(() => {
            const jobs = Exit.isSuccess(exit) ? jobsOf(exit.value) : []
            delivery.onEnd((wasDelivered) => ended(claim, jobs, wasDelivered))
          })
        )
      })
    return Effect.withFiber((fiber) => {
      const delivery = fiber.getRef(CurrentDelivery)
      if (delivery === undefined) return call
      // Once it is under way it is carried out, and what it took must be known.
      return Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(returns.ended(keys)), () => carryOut(delivery))
      )
    })
  }

  return {
    ...store,
    claim: (options) =>
      follow({ queue: options.queue, tokens: [options.token] }, store.claim(options), (answer) =>
        answer._tag === "Claimed" ? [{ token: options.token, job: answer.job }] : []
      ),
    claimMany: (options) => follow(options, store.claimMany(options), ({ jobs }) => jobs)
  }
}

/** The stores, with claims that follow their answers. What is still to be given back is, before this layer closes. */
export const layer: Layer.Layer<JobStores, never, JobStores> = Layer.effect(
  JobStores,
  Effect.gen(function* () {
    const stores = yield* JobStores
    const releases = yield* FiberSet.make<void>()
    yield* Effect.addFinalizer(() => FiberSet.awaitEmpty(releases))
    const fork = yield* FiberSet.runtime(releases)<never>()
    const known = new WeakMap<JobStore.Service, JobStore.Service>()
    const follow = (store: JobStore.Service) => {
      const found = known.get(store) ?? followed(store, (effect) => fork(effect))
      known.set(store, found)
      return found
    }
    return JobStores.of({ get: (id) => Effect.map(stores.get(id), follow) })
  })
)
