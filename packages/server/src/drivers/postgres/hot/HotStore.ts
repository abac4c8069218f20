/** A store as the statements that all stores of a server share know it. */
import type { JobStore, Limits } from "@jobwire/protocol"
import type { EnqueueFrom } from "../../embedded/EnqueueOperations.ts"
import type { Wake } from "../../wake/Wake.ts"
import type { LaneNumbers } from "../LaneNumbers.ts"

/** See the file. */
export interface HotStore {
  readonly number: number
  readonly lanes: LaneNumbers
  readonly wake: Wake
  readonly limits: Limits.Limits
  /** Whether jobs without an id get one of the store's own. */
  readonly drawsIds: boolean
  /** The same operations in units of work, for whatever a statement does not decide. */
  readonly units: Units
}

/** See {@link HotStore.units}. */
export interface Units extends Pick<
  JobStore.Service,
  "enqueue" | "enqueueMany" | "claim" | "claimMany" | "ack" | "ackMany" | "extendLocks"
> {
  readonly enqueueFrom: EnqueueFrom
}
