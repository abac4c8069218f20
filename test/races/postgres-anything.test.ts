/** Any calls at once, to several servers on one store, by the machine's clock. `JOBWIRE_SEED` makes the same calls again. */
import { assert } from "@effect/vitest"
import type { JobStore } from "@jobwire/protocol"
import { Cause, Effect, Exit } from "effect"
import * as fc from "fast-check"
import { seed } from "../../packages/server/test/core/support/property.ts"
import { anyCommand, type Command } from "../../packages/server/test/embedded/commands.ts"
import { many, race } from "../../packages/server/test/postgres/support/races.ts"

const callers = 12
const calls = 40

// Time passes by itself.
const command = anyCommand.filter(({ name }) => name !== "pass")

const refusals = new Set([
  "JobNotFoundError",
  "LockLostError",
  "JobNotRetryableError",
  "JobNotCancellableError",
  "JobNotPromotableError"
])

const isTagged = (error: unknown): error is { readonly _tag: string } =>
  typeof error === "object" && error !== null && "_tag" in error && typeof error._tag === "string"

const isRefused = (cause: Cause.Cause<unknown>): boolean => {
  const error = Cause.squash(cause)
  return isTagged(error) && refusals.has(error._tag)
}

/** Whether the answer is one that the contract knows; any fault is not. */
const make = Effect.fnUntraced(function* (store: JobStore.Service, command: Command) {
  const exit = yield* Effect.exit(command.run(store))
  if (Exit.isSuccess(exit) || isRefused(exit.cause)) return
  assert.fail(`${String(command)} failed: ${Cause.pretty(exit.cause)}`)
})

for (const round of [0, 1, 2]) {
  race(`any calls at once leave a store that is in order (seed ${seed}, round ${round})`, ({ server }) =>
    Effect.gen(function* () {
      const commands = fc.sample(command, { seed: seed + round, numRuns: callers * calls })
      yield* many(callers, (caller) =>
        Effect.forEach(commands.slice(caller * calls, (caller + 1) * calls), (command, turn) =>
          make(server(caller + turn), command)
        )
      )
    })
  )
}
