/** Pages end before they pass the limits in force, and say that more follows. */
import { EnqueueRequest, type JobStore, Limits } from "@jobwire/protocol"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as MemoryJobStore from "../../src/drivers/memory/MemoryJobStore.ts"

const withLimits = <A, E>(
  limits: Partial<Limits.Limits>,
  body: (store: JobStore.Service) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.scoped(Effect.flatMap(MemoryJobStore.make(), body)).pipe(
    Effect.provideService(Limits.CurrentLimits, { ...Limits.defaults, ...limits })
  )

const big = "x".repeat(400)

const request = (id: string, fields: Partial<EnqueueRequest> = {}): EnqueueRequest =>
  EnqueueRequest.make({ id, name: "name", queue: "queue", payload: big, ...fields })

const ids = ["a", "b", "c", "d", "e"]

/** A parent that has fanned out into these children. */
const addParent = Effect.fnUntraced(function* (store: JobStore.Service) {
  yield* store.enqueue(request("parent"))
  yield* store.claim({ queue: "queue", names: ["name"], token: "t", lockDurationMs: 1_000 })
  yield* store.ack("parent", "t", {
    _tag: "FanOut",
    failFast: false,
    children: ids.map((key) => ({ childKey: key, storeKey: "s", request: request(`child-${key}`) }))
  })
})

const report = (childKey: string) => ({
  flowId: "parent",
  childKey,
  outcome: "completed" as const,
  exit: big,
  failedReason: undefined
})

describe("a page", () => {
  it.effect("of jobs ends before its bytes, and the next one goes on", () =>
    withLimits({ pageBytes: 1_000 }, (store) =>
      Effect.gen(function* () {
        yield* store.enqueueMany(ids.map((id) => request(id)))
        const seen: Array<string> = []
        let cursor: string | undefined
        do {
          const page = yield* store.list({ order: "asc", cursor, limit: 50 })
          assert.isAtMost(page.items.length, 2)
          seen.push(...page.items.map(({ id }) => id))
          cursor = page.cursor
        } while (cursor !== undefined)
        assert.deepStrictEqual(seen, ids)
      })
    )
  )

  it.effect("of jobs is never longer than the limit, whatever was asked for", () =>
    withLimits({ pageLength: 2 }, (store) =>
      Effect.gen(function* () {
        yield* store.enqueueMany(ids.map((id) => request(id)))
        const page = yield* store.list({ limit: 100 })
        assert.lengthOf(page.items, 2)
        assert.isDefined(page.cursor)
      })
    )
  )

  it.effect("of claimed jobs ends before its bytes, metadata counted, and has one job at least", () =>
    withLimits({ pageBytes: 1_000 }, (store) =>
      Effect.gen(function* () {
        const claim = (tokens: ReadonlyArray<string>) =>
          Effect.map(
            store.claimMany({ queue: "queue", names: ["name"], tokens, lockDurationMs: 1_000 }),
            ({ empty, jobs }) => [jobs.map(({ job }) => job.id).join(), empty === undefined] as const
          )
        const metadata = { about: "x".repeat(300) }
        yield* store.enqueueMany([
          request("huge", { payload: "x".repeat(2_000) }),
          request("a"),
          request("b"),
          request("labelled", { metadata }),
          request("c")
        ])
        assert.deepStrictEqual(yield* claim(["t1", "t2", "t3"]), ["huge", true])
        assert.deepStrictEqual(yield* claim(["t1", "t2", "t3"]), ["huge", true])
        assert.deepStrictEqual(yield* claim(["t2", "t3", "t4"]), ["a,b", true])
        assert.deepStrictEqual(yield* claim(["t4", "t5"]), ["labelled", true])
        assert.deepStrictEqual(yield* claim(["t5", "t6"]), ["c", false])
      })
    )
  )

  it.effect("of children ends before its bytes, and the next one goes on", () =>
    withLimits({ pageBytes: 1_000 }, (store) =>
      Effect.gen(function* () {
        yield* addParent(store)
        yield* store.recordChildResults(ids.map(report))
        const first = yield* store.listChildResults("parent")
        assert.deepStrictEqual(
          first.items.map(({ childKey }) => childKey),
          ["a", "b"]
        )
        const second = yield* store.listChildResults("parent", { cursor: first.cursor })
        assert.deepStrictEqual(
          second.items.map(({ childKey }) => childKey),
          ["c", "d"]
        )
      })
    )
  )

  it.effect("of work for the sweeper ends before its bytes, and rotates", () =>
    withLimits({ pageBytes: 1_500 }, (store) =>
      Effect.gen(function* () {
        yield* addParent(store)
        const seen: Array<string> = []
        for (let round = 0; round < 3; round++) {
          yield* TestClock.adjust(1)
          const { reconcile } = yield* store.flowSweepWork({ pendingAgeMs: 0 })
          assert.isAtMost(reconcile[0]?.children.length ?? 0, 2)
          seen.push(...(reconcile[0]?.children ?? []).map(({ childKey }) => childKey))
        }
        assert.sameMembers([...new Set(seen)], ids)
      })
    )
  )

  it.effect("of the outbox ends before its bytes", () =>
    withLimits({ pageBytes: 1_000 }, (store) =>
      Effect.gen(function* () {
        const parent = { flowName: "f", flowId: "p", parentStoreKey: "s", depth: 1 }
        yield* store.enqueueMany(ids.map((id) => request(id, { parent: { ...parent, childKey: id } })))
        for (const token of ids) {
          const claimed = yield* store.claim({ queue: "queue", names: ["name"], token, lockDurationMs: 1_000 })
          if (claimed._tag === "Claimed") yield* store.ack(claimed.job.id, token, { _tag: "Complete", exit: big })
        }
        const entries = yield* store.peekOutbox({ limit: 10 })
        assert.lengthOf(entries, 2)
        const next = yield* store.peekOutbox({ limit: 10, after: entries.at(-1)?.id })
        assert.strictEqual(next[0]?.report.childKey, "c")
      })
    )
  )
})
