/** Calls and pages of any length, as effect-mq makes them, before a store with limits. */
import { describe, expect, it } from "@effect/vitest"
import type { OutboxEntry } from "@jobwire/protocol"
import { Effect } from "effect"
import { JobStore as Theirs } from "effect-mq"
import { adapt, id, request } from "../support/adapted-store.ts"

const report = (childKey: string, exit: string): Theirs.FlowChildReport => ({
  flowId: id,
  childKey,
  outcome: "completed",
  exit,
  failedReason: undefined
})

const child = (childKey: string) => ({
  flowId: id,
  childKey,
  name: "name",
  storeKey: "store",
  childJobId: childKey,
  status: "pending" as const,
  exit: undefined,
  failedReason: undefined,
  cascaded: false
})

const entry = (entryId: string, exit: string): OutboxEntry => ({
  id: entryId,
  flowName: "flow",
  parentStoreKey: "store",
  report: { flowId: "flow-1", childKey: entryId, outcome: "completed", exit, failedReason: undefined }
})

describe("batches and pages of any length", () => {
  it.effect("requests, locks, ids and keys go in batches within the limit, answers in their order", () =>
    Effect.gen(function* () {
      const sizes: Array<number> = []
      const store = adapt(
        {
          enqueueMany: (requests) =>
            Effect.sync(
              () => (sizes.push(requests.length), requests.map(({ name }) => ({ id: name, duplicate: false })))
            ),
          extendLocks: (locks) =>
            Effect.sync(() => (sizes.push(locks.length), { lost: locks.map((lock) => lock.id), cancelRequested: [] })),
          deleteOutbox: (ids) => Effect.sync(() => void sizes.push(ids.length)),
          markChildrenCascaded: (_id, keys) => Effect.sync(() => void sizes.push(keys.length))
        },
        { batchLength: 2 }
      )
      const names = ["a", "b", "c", "d", "e"]
      const results = yield* store.enqueueMany(names.map((name) => request({ name })))
      expect(results.map((result) => result.id)).toEqual(names)
      const locks = names.map((name) => ({ id: Theirs.JobId(name), token: "token" }))
      expect((yield* store.extendLocks(locks, 1000)).lost).toEqual(names)
      yield* store.deleteOutbox(names)
      yield* store.markChildrenCascaded(id, names)
      expect(sizes).toEqual([2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2, 1])
    })
  )

  it.effect("reports go in batches within the bytes of one call", () =>
    Effect.gen(function* () {
      const batches: Array<ReadonlyArray<string>> = []
      const store = adapt(
        {
          recordChildResults: (reports) =>
            Effect.sync(() => {
              batches.push(reports.map((report) => report.childKey))
              return reports.map(() => ({ applied: true, parentSettled: false }))
            })
        },
        { callBytes: 30 }
      )
      const results = yield* store.recordChildResults([
        report("a", "ten bytes"),
        report("b", "ten bytes"),
        report("c", "ten bytes"),
        report("d", "as much as one call"),
        report("e", "")
      ])
      expect(batches).toEqual([["a", "b"], ["c"], ["d", "e"]])
      expect(results).toHaveLength(5)
      expect(yield* store.recordChildResults([])).toEqual([])
    })
  )

  it.effect("a page that the store cuts is filled", () =>
    Effect.gen(function* () {
      const rows = ["a", "b", "c", "d", "e"]
      const store = adapt({
        listChildResults: (_id, options) =>
          Effect.sync(() => {
            const from = options?.cursor === undefined ? 0 : Number(options.cursor)
            const end = Math.min(from + 2, from + (options?.limit ?? 0), rows.length)
            return { items: rows.slice(from, end).map(child), cursor: end < rows.length ? String(end) : undefined }
          })
      })
      const all = yield* store.listChildResults(id)
      expect(all.items.map((row) => row.childKey)).toEqual(rows)
      expect(all.cursor).toBeUndefined()
      const three = yield* store.listChildResults(id, { limit: 3 })
      expect(three.items.map((row) => row.childKey)).toEqual(["a", "b", "c"])
      expect(three.cursor).toBe("3")
    })
  )

  it.effect("an outbox page that bytes may have cut is filled; another short page is the last", () =>
    Effect.gen(function* () {
      const large = "x".repeat(50)
      const outbox = [entry("1", large), entry("2", large), entry("3", "small")]
      let calls = 0
      const store = adapt(
        {
          peekOutbox: ({ after, limit }) =>
            Effect.sync(() => {
              calls += 1
              const from = outbox.findIndex((item) => item.id === after) + 1
              return outbox.slice(from, from + Math.min(limit, 1))
            })
        },
        { pageBytes: 60, exitBytes: 52 }
      )
      const entries = yield* store.peekOutbox({ limit: 10 })
      expect(entries.map((item) => item.id)).toEqual(["1", "2", "3"])
      expect(calls).toBe(3)
    })
  )
})
