/**
 * A job store over tables: the operations stand here once, and a driver brings only its tables and how a unit of work
 * is committed.
 */
import { type JobStore, Limits, Validation } from "@jobwire/protocol"
import { Effect, type Scope } from "effect"
import type { Storage } from "./Storage.ts"
import type { StoreOptions } from "./StoreOptions.ts"

/**
 * The store over this storage, with validation by the limits in force and wake-ups within this process. The scope bounds
 * its sweeper of finished jobs.
 */
export const make: (storage: Storage, options?: StoreOptions) => Effect.Effect<JobStore.Service, never, Scope.Scope> =
  Effect.fnUntraced(function* (_storage, _options) {
    const limits = yield* Limits.CurrentLimits
    // The operations follow, one concern after another; the signature is what drivers build on.
    const operations = {} as JobStore.Service
    return Validation.validated(operations, limits)
  })
