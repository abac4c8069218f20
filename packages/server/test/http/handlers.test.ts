/** The handlers are the table: the same names, the arguments in order, the scope of each. */
import { assert, describe, it } from "@effect/vitest"
import {
  type JobStore,
  JobStoreError,
  JobStoreRpcs,
  LockLostError,
  operationNames,
  operations,
  Scope
} from "@jobwire/protocol"
import { Effect, Layer } from "effect"
import { NodeHttpClient } from "@effect/platform-node"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { Drain, make as makeDrain } from "../../src/http/Drain.ts"
import * as Handlers from "../../src/http/Handlers.ts"
import { JobStores } from "../../src/JobStores.ts"
import { call, errorOf, start, token } from "./support/server.ts"
import { make } from "./support/stub-store.ts"

/** A store whose every method answers with its own name and arguments, and remembers them. */
const recording = () => {
  const calls: Array<readonly [string, ReadonlyArray<unknown>]> = []
  const methods = Object.fromEntries(
    operationNames.map((name) => [
      name,
      (...args: ReadonlyArray<unknown>) =>
        Effect.suspend(() => {
          calls.push([name, args])
          return Effect.fail(new JobStoreError({ message: name, reason: { _tag: "Defect" } }))
        })
    ])
  )
  // Every name of the table has a method that fails in a way each operation may.
  return { calls, service: methods as unknown as JobStore.Service }
}

describe("the handlers", () => {
  it.effect("are those of the table, each once", () =>
    Effect.gen(function* () {
      const handlers = yield* Handlers.make
      assert.deepStrictEqual(Object.keys(handlers).toSorted(), operationNames.toSorted())
      assert.deepStrictEqual([...JobStoreRpcs.requests.keys()].toSorted(), operationNames.toSorted())
    }).pipe(
      Effect.provide(
        Layer.merge(Layer.effect(Drain, makeDrain()), Layer.succeed(JobStores, { get: () => Effect.die("unused") }))
      )
    )
  )

  it.live("call the method of the same name with the arguments of the payload in order", () =>
    Effect.gen(function* () {
      const { calls, service } = recording()
      const server = yield* start(service)
      const exit = yield* call(server, "advanceSchedule", { nextRunAt: 3, expectedRunAt: 2, key: "k" })
      assert.deepStrictEqual(calls, [["advanceSchedule", ["k", 2, 3]]])
      assert.strictEqual(exit._tag, "Failure")
      yield* call(server, "counts", {})
      assert.deepStrictEqual(calls[1], ["counts", [undefined]])
    })
  )

  it.live("reach every operation, and no other, with the scope of the table", () =>
    Effect.gen(function* () {
      const { calls, service } = recording()
      const tokens = Scope.literals.map((scope) => token(`only-${scope}`, [scope]))
      const server = yield* start(service, { tokens })
      for (const name of operationNames) {
        for (const scope of Scope.literals) {
          calls.length = 0
          const exit = yield* call(server, name, payloads[name], { authorization: `Bearer only-${scope}` })
          const error = errorOf(exit)
          if (operations[name].scope === scope) {
            assert.deepInclude(error, { _tag: "JobStoreError", message: name }, name)
            assert.strictEqual(calls.length, 1, name)
          } else {
            assert.deepInclude(error, { _tag: "JobStoreError" }, name)
            assert.deepInclude(error, { reason: { _tag: "Forbidden", scope: operations[name].scope } }, name)
            assert.strictEqual(calls.length, 0, name)
          }
        }
      }
    })
  )

  it.live("answer with the store's typed errors", () =>
    Effect.gen(function* () {
      const { service } = make({ ack: (id) => Effect.fail(new LockLostError({ jobId: id })) })
      const server = yield* start(service)
      const exit = yield* call(server, "ack", { id: "j", token: "t", outcome: { _tag: "Cancelled" } })
      assert.deepStrictEqual(errorOf(exit), { _tag: "LockLostError", jobId: "j" })
    })
  )

  it.live("speak with effect's own client", () =>
    Effect.gen(function* () {
      const server = yield* start(
        make({ enqueue: (request) => Effect.succeed({ id: request.name, duplicate: false }) }).service
      )
      const http = RpcClient.layerProtocolHttp({ url: `${server.url}/v1/rpc` }).pipe(
        Layer.provide(NodeHttpClient.layerUndici),
        Layer.provide(RpcSerialization.layerJson)
      )
      const result = yield* Effect.gen(function* () {
        const client = yield* RpcClient.make(JobStoreRpcs)
        return yield* client.enqueue({
          request: {
            name: "hello",
            queue: "q",
            payload: { a: 1 },
            id: undefined,
            metadata: {},
            priority: 0,
            attemptsMax: 1,
            backoff: undefined,
            keep: undefined,
            timeoutMs: undefined,
            dedupe: undefined,
            trace: undefined,
            parent: undefined,
            delayMs: 0
          }
        })
      }).pipe(Effect.provide(http), Effect.scoped)
      assert.deepStrictEqual(result, { id: "hello", duplicate: false })
    })
  )
})

const options = {}
const request = { name: "n", queue: "q", metadata: {}, priority: 0, attemptsMax: 1, delayMs: 0 }
const payloads: Record<(typeof operationNames)[number], unknown> = {
  enqueue: { request },
  enqueueMany: { requests: [request] },
  claim: { options: { queue: "q", names: ["n"], token: "t", lockDurationMs: 1 } },
  claimMany: { options: { queue: "q", names: ["n"], tokens: ["t"], lockDurationMs: 1 } },
  ack: { id: "j", token: "t", outcome: { _tag: "Cancelled" } },
  ackMany: { acks: [{ id: "j", token: "t", outcome: { _tag: "Cancelled" } }] },
  release: { id: "j", token: "t" },
  extendLocks: { locks: [], durationMs: 1 },
  recoverStalled: { options: { maxStalledCount: 1 } },
  awaitWake: { queues: ["q"], wakeToken: "w" },
  getJob: { id: "j" },
  getAttempts: { id: "j" },
  list: { options },
  counts: {},
  retry: { id: "j" },
  cancel: { id: "j" },
  cancelByDedupe: { name: "n", key: "k" },
  promote: { id: "j" },
  remove: { id: "j" },
  pause: { queue: "q" },
  resume: { queue: "q" },
  pausedQueues: {},
  upsertSchedule: {
    schedule: {
      key: "k",
      jobName: "n",
      queue: "q",
      everyMs: 5,
      metadata: {},
      priority: 0,
      attemptsMax: 1,
      nextRunAt: 5
    }
  },
  removeSchedule: { key: "k" },
  listSchedules: {},
  dueSchedules: {},
  tickSchedule: { key: "k", expectedRunAt: 1, nextRunAt: 2, request },
  advanceSchedule: { key: "k", expectedRunAt: 1, nextRunAt: 2 },
  recordChildResults: { reports: [] },
  listChildResults: { flowId: "f" },
  flowSweepWork: { options: { pendingAgeMs: 1 } },
  markChildrenCascaded: { flowId: "f", childKeys: [] },
  peekOutbox: { options: { limit: 1 } },
  deleteOutbox: { ids: [] }
}
