/** A store of which a test writes only the operations it needs. */
import { type JobStore, operationNames } from "@jobwire/protocol"
import { Effect } from "effect"

/** The given operations; every other one dies and says its name. */
export const stubStore = (operations: Partial<JobStore.Service>): JobStore.Service => {
  const others = operationNames.map((name) => [name, () => Effect.die(new Error(`${name} was called`))])
  // Every operation of the table is there: those of the test with their own types, the others fit any.
  return { ...Object.fromEntries(others), ...operations } as JobStore.Service
}
