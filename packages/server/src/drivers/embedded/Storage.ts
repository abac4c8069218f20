/** What a driver brings to the embedded engine: its tables, inside units of work. */
import type { JobStoreError } from "@jobwire/protocol"
import type { Effect } from "effect"
import type { Tables } from "./Tables.ts"

/** The answer of a unit whose writes are kept, and the number of its transaction where the driver numbers them. */
export interface Committed<A> {
  readonly answer: A
  readonly transaction?: string
}

/**
 * The two ways to run a unit of work on one store. A fault of the storage is a `JobStoreError`. A unit touches nothing but its
 * tables, so it may run more than once, as long as only the last run is kept.
 */
export interface Storage {
  /**
   * Atomically: all writes of the unit are kept when the effect succeeds, none when it fails, and nobody sees some of
   * them. Units of concurrent callers may share one commit; each is answered after it.
   */
  readonly write: <A>(work: (tables: Tables) => A) => Effect.Effect<Committed<A>, JobStoreError>
  /** Without writes: sees what was committed, at one moment. */
  readonly read: <A>(work: (tables: Tables) => A) => Effect.Effect<A, JobStoreError>
}
