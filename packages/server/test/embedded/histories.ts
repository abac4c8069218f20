/** Random histories through a store, its invariants checked after every call. */
import type { JobStore } from "@jobwire/protocol"
import { isTerminal, type JobState } from "@jobwire/protocol"
import { Clock, Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { assert, describe } from "vitest"
import type { OutboxRow } from "../../src/core/JobRow.ts"
import type { Storage } from "../../src/drivers/embedded/Storage.ts"
import * as EmbeddedJobStore from "../../src/drivers/embedded/EmbeddedJobStore.ts"
import { property } from "../core/support/property.ts"
import { anyCommand, type Command } from "./commands.ts"
import { checkTables, jobsOf } from "./invariants.ts"

/** What a step may change and is compared with: states by job, and the outbox. */
interface Snapshot {
  readonly states: ReadonlyMap<number, { readonly state: JobState; readonly isChild: boolean }>
  readonly outbox: ReadonlyArray<OutboxRow>
}

const snapshot = (storage: Storage): Effect.Effect<Snapshot, unknown> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    storage.read((tables) => {
      checkTables(tables, now)
      return {
        states: new Map(
          jobsOf(tables).map((job) => [job.seq, { state: job.state, isChild: job.parent !== undefined }])
        ),
        outbox: Array.from(tables.outbox.list(0))
      }
    })
  )

// A finished job that retention let go at once is seen neither before nor after, so ends are counted from below.
const checkStep = (command: Command, before: Snapshot, after: Snapshot): void => {
  let ends = 0
  let gone = 0
  for (const [seq, { isChild, state }] of before.states) {
    const now = after.states.get(seq)
    if (now === undefined) gone += isChild && !isTerminal(state) ? 1 : 0
    else if (isTerminal(state) && now.state !== state) assert.strictEqual(command.name, "retry", `${state} was left`)
    else if (!isTerminal(state) && isTerminal(now.state) && isChild) ends++
  }
  const reports = after.outbox.length - before.outbox.length
  assert.isAtLeast(reports, ends, "every end of a child is reported")
  assert.isAtMost(reports, ends + gone, "nothing but the end of a child is reported")
  assert.deepStrictEqual(after.outbox.slice(0, before.outbox.length), before.outbox, "the outbox only grows")
}

const runHistory = Effect.fnUntraced(function* (storage: Storage, commands: ReadonlyArray<Command>) {
  const store: JobStore.Service = yield* EmbeddedJobStore.make(storage)
  let before = yield* snapshot(storage)
  for (const command of commands) {
    yield* Effect.ignore(command.run(store))
    const after = yield* snapshot(storage)
    checkStep(command, before, after)
    before = after
  }
})

/** Registers the property for storages that `make` gives, each new and empty. */
export const histories = (name: string, make: Effect.Effect<Storage, unknown, Scope.Scope>, numRuns = 100): void => {
  describe(`random histories: ${name}`, () => {
    property(
      "keep every invariant after every call",
      fc.array(anyCommand, { minLength: 1, maxLength: 80, size: "max" }),
      (commands) =>
        Effect.flatMap(make, (storage) => runHistory(storage, commands)).pipe(
          Effect.scoped,
          Effect.provide(TestClock.layer()),
          Effect.runPromise
        ),
      numRuns
    )
  })
}
