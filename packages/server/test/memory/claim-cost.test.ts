/**
 * The cost of a claim does not depend on how many jobs are waiting, delayed or finished. It is counted in comparisons of
 * jobs by the indexes, which is all that a claim does with jobs that it does not take.
 */
import { EnqueueRequest, type JobStore } from "@jobwire/protocol"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as EmbeddedJobStore from "../../src/drivers/embedded/EmbeddedJobStore.ts"
import type { MakeIndex } from "../../src/drivers/memory/JobSlot.ts"
import { memoryStorage } from "../../src/drivers/memory/MemoryStorage.ts"
import * as MemoryTables from "../../src/drivers/memory/MemoryTables.ts"
import { OrderedIndex } from "../../src/drivers/memory/OrderedIndex.ts"

interface Backlog {
  readonly waiting: number
  readonly delayed: number
  readonly finished: number
}

const names = ["a", "b", "c"]

const requests = (length: number, fields: Partial<EnqueueRequest>): ReadonlyArray<EnqueueRequest> =>
  Array.from({ length }, (_, index) =>
    EnqueueRequest.make({
      name: names[index % names.length] ?? "a",
      queue: "queue",
      payload: index,
      priority: index % 7,
      ...fields
    })
  )

const fill = Effect.fnUntraced(function* (store: JobStore.Service, { delayed, finished, waiting }: Backlog) {
  yield* store.enqueueMany(requests(finished, {}))
  for (let index = 0; index < finished; index++) {
    const claimed = yield* store.claim({ queue: "queue", names, token: `fill-${index}`, lockDurationMs: 1_000 })
    if (claimed._tag === "Claimed") {
      yield* store.ack(claimed.job.id, `fill-${index}`, { _tag: "Complete", exit: undefined })
    }
  }
  yield* store.enqueueMany(requests(waiting, {}))
  yield* store.enqueueMany(requests(delayed, { delayMs: 60_000 }))
})

/** How many comparisons ten claims take over this backlog. */
const comparisonsOf = Effect.fnUntraced(function* (backlog: Backlog) {
  let comparisons = 0
  const makeIndex: MakeIndex = (compare) =>
    new OrderedIndex((one, other) => {
      comparisons++
      return compare(one, other)
    })
  const store = yield* EmbeddedJobStore.make(memoryStorage(MemoryTables.make(makeIndex)))
  yield* fill(store, backlog)
  comparisons = 0
  for (let index = 0; index < 10; index++) {
    const claimed = yield* store.claim({ queue: "queue", names, token: `token-${index}`, lockDurationMs: 1_000 })
    assert.strictEqual(claimed._tag, "Claimed")
  }
  return comparisons
})

describe("the cost of a claim", () => {
  const small: Backlog = { waiting: 20, delayed: 10, finished: 10 }

  for (const [kind, backlog] of [
    ["waiting", { ...small, waiting: 9_000 }],
    ["delayed", { ...small, delayed: 9_000 }],
    ["finished", { ...small, finished: 9_000 }]
  ] as const) {
    it.effect(`is the same over few and over thousands of ${kind} jobs`, () =>
      Effect.gen(function* () {
        const few = yield* comparisonsOf(small)
        const many = yield* comparisonsOf(backlog)
        assert.isAtMost(many, few)
        assert.isAtMost(few, 10 * names.length)
      })
    )
  }
})
