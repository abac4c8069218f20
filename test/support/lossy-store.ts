/** A store behind a network that carries every call and loses some of the answers. */
import { type JobStore, JobStoreError, operationNames } from "@jobwire/protocol"
import { Effect } from "effect"

type Method = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

const lost = new JobStoreError({
  message: "the answer was lost",
  reason: { _tag: "Unavailable", url: undefined, sent: true }
})

/** The store; of each operation every `period`-th call is carried out, and answered with an error all the same. */
export const lossy = (store: JobStore.Service, period: number): JobStore.Service => {
  const methods: Record<string, Method> = {}
  for (const name of operationNames) {
    // The loop cannot tell the compiler which method it has; arguments and answers pass through.
    const run = store[name] as unknown as Method
    let calls = 0
    methods[name] = (...args) =>
      Effect.suspend(() => {
        calls += 1
        return calls % period === 0 ? Effect.andThen(run(...args), Effect.fail(lost)) : run(...args)
      })
  }
  // Every operation of the table was put in.
  return methods as unknown as JobStore.Service
}
