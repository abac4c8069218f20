/** A store for tests of the server: every operation is a test's to say, waits are counted. */
import { type JobStore, operationNames } from "@jobwire/protocol"
import { Effect } from "effect"

export interface StubStore {
  readonly service: JobStore.Service
  /** How many callers are waiting now. */
  readonly parked: () => number
  /** Resolves once that many callers are waiting. */
  readonly parkedIs: (count: number) => Effect.Effect<void>
}

const unset = Object.fromEntries(
  operationNames.map((name) => [name, () => Effect.die(new Error(`the test did not say what ${name} does`))])
)

/** A store that does what the test says; `awaitWake` waits for ever unless given. */
export const make = (operations: Partial<JobStore.Service> = {}): StubStore => {
  let parked = 0
  const watchers = new Set<() => void>()
  const change = (by: number) => {
    parked += by
    for (const watcher of watchers) watcher()
  }
  const awaitWake: JobStore.Service["awaitWake"] = () =>
    Effect.callback<void>(() => {
      change(1)
      return Effect.sync(() => change(-1))
    })
  return {
    // All names are there: those of the table, then those of the test.
    service: {
      ...unset,
      awaitWake,
      pausedQueues: () => Effect.succeed([]),
      ...operations
    } as unknown as JobStore.Service,
    parked: () => parked,
    parkedIs: (count) =>
      Effect.callback<void>((resume) => {
        const look = () => {
          if (parked !== count) return
          watchers.delete(look)
          resume(Effect.void)
        }
        watchers.add(look)
        look()
        return Effect.sync(() => watchers.delete(look))
      })
  }
}
