/** Random histories on SQLite: the invariants of every store, and the same answers as the store in memory. */
import { type JobStore, Limits } from "@jobwire/protocol"
import { Effect, type Exit, type Scope } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import type { DatabaseSync } from "node:sqlite"
import { assert, describe } from "vitest"
import * as EmbeddedJobStore from "../../src/drivers/embedded/EmbeddedJobStore.ts"
import type { Storage } from "../../src/drivers/embedded/Storage.ts"
import * as MemoryJobStore from "../../src/drivers/memory/MemoryJobStore.ts"
import { ackMany, claimMany } from "../../src/effect-mq/Many.ts"
import { property } from "../core/support/property.ts"
import { anyCommand, type Command } from "../embedded/commands.ts"
import { histories } from "../embedded/histories.ts"
import { brokenRules } from "./invariants.ts"
import { inMemory } from "./support.ts"
import { listAll, wideCommand } from "./wide-commands.ts"

histories(
  "sqlite",
  Effect.map(inMemory, ({ storage }) => storage),
  60
)

const counting = () => {
  let drawn = 0
  return { idGenerator: () => `drawn-${++drawn}` }
}

// Wake tokens name the store that gave them.
const withoutToken = (answer: unknown): unknown =>
  typeof answer === "object" && answer !== null && "wakeToken" in answer ? { ...answer, wakeToken: "" } : answer

// One by one: whatever is done to many must end as if it were done to each.
const memoryStore = Effect.map(
  Effect.suspend(() => MemoryJobStore.make(counting())),
  (store): JobStore.Service => ({
    ...store,
    claimMany: claimMany(store.claim, Limits.defaults),
    ackMany: ackMany(store.ack)
  })
)

const compare = Effect.fnUntraced(function* (db: DatabaseSync, storage: Storage, commands: ReadonlyArray<Command>) {
  const sqlite = yield* EmbeddedJobStore.make(storage, counting())
  const memory = yield* memoryStore
  for (const command of commands) {
    const expected: Exit.Exit<unknown, unknown> = yield* Effect.exit(Effect.map(command.run(memory), withoutToken))
    // Time passes once for both.
    if (command.name === "pass") continue
    const actual = yield* Effect.exit(Effect.map(command.run(sqlite), withoutToken))
    assert.deepStrictEqual(actual, expected, String(command))
  }
  for (const orderBy of ["enqueuedAt", "runAt", "finishedAt"] as const) {
    assert.deepStrictEqual(yield* listAll(sqlite, { orderBy, limit: 2 }), yield* listAll(memory, { orderBy, limit: 2 }))
  }
  assert.deepStrictEqual(brokenRules(db), [])
})

const run = <E>(body: Effect.Effect<void, E, Scope.Scope>): Promise<void> =>
  body.pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.runPromise)

describe("random histories: sqlite beside memory", () => {
  property(
    "answer the same, call by call",
    fc.array(fc.oneof(anyCommand, wideCommand), { minLength: 1, maxLength: 150 }),
    (commands) => run(Effect.flatMap(inMemory, ({ db, storage }) => compare(db, storage, commands))),
    60
  )
})
