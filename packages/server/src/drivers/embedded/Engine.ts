/**
 * The frame of every operation: one unit of work with one time, whose wake-ups are told when it is committed.
 */
import { Call, type JobStoreError, type Limits } from "@jobwire/protocol"
import { Clock, Effect, type Result } from "effect"
import type { Wake } from "../wake/Wake.ts"
import { Wakes } from "../wake/Wakes.ts"
import { Conflict, CurrentRemembering, once } from "./Receipts.ts"
import type { Storage } from "./Storage.ts"
import type { IdGenerator } from "./StoreOptions.ts"
import type { Tables } from "./Tables.ts"

/** One unit of work: what it may touch, when it happens, and whom it wakes. */
export interface Unit {
  readonly tables: Tables
  /** Epoch milliseconds, the same throughout. */
  readonly now: number
  readonly wakes: Wakes
  /** The key of the call that it is part of; absent when its caller gave none. */
  readonly call: string | undefined
}

/** What the operations share. */
export class Engine {
  readonly wake: Wake
  readonly limits: Limits.Limits
  /** The application's own; absent for the store's. */
  readonly idGenerator: IdGenerator | undefined
  readonly #storage: Storage

  constructor(storage: Storage, wake: Wake, limits: Limits.Limits, idGenerator: IdGenerator | undefined) {
    this.#storage = storage
    this.wake = wake
    this.limits = limits
    this.idGenerator = idGenerator
  }

  /** Runs a unit that may write. Once it has begun it is not interrupted, so its wake-ups are told whenever it is kept. */
  write<A>(work: (unit: Unit) => A): Effect.Effect<A, JobStoreError> {
    return Effect.uninterruptible(
      Effect.withFiber((fiber) => {
        const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
        const call = fiber.getRef(Call.CurrentCall)
        const remembering = fiber.getRef(CurrentRemembering)
        const committed = this.#storage.write((tables) => {
          const unit: Unit = { tables, now, wakes: new Wakes(), call }
          const result = remembering === undefined ? work(unit) : once(remembering, tables, now, () => work(unit))
          return { result, wakes: unit.wakes }
        })
        return Effect.flatMap(committed, ({ answer: { result, wakes }, transaction }) => {
          this.wake.notify(wakes.events, transaction)
          return result instanceof Conflict ? Effect.fail(result.error) : Effect.succeed(result)
        })
      })
    )
  }

  /** Like {@link write}, for work that may be refused; work that is refused has written nothing. */
  decide<A, E>(work: (unit: Unit) => Result.Result<A, E>): Effect.Effect<A, JobStoreError | E> {
    return Effect.flatMap(this.write(work), Effect.fromResult)
  }

  /** Runs a unit that only reads. */
  read<A>(work: (tables: Tables, now: number) => A): Effect.Effect<A, JobStoreError> {
    return Effect.clockWith((clock) => {
      const now = clock.currentTimeMillisUnsafe()
      return this.#storage.read((tables) => work(tables, now))
    })
  }
}
