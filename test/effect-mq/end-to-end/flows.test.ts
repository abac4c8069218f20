/**
 * effect-mq's Flow over two remote stores of a `jobwire serve` process, on real time: nested, fail-fast, cancelled, and with
 * workers that are interrupted all the way.
 */
import { assert, expect, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Queue, References, Schedule, Scope } from "effect"
import type { JobStore } from "effect-mq"
import {
  answer,
  BeforeFailure,
  Branch,
  type BranchSpec,
  Children,
  fail,
  hang,
  Leaf,
  type LeafSpec,
  Parents,
  type Stores,
  StrictBranch,
  StrictTrunk,
  StrictTrunkFlow,
  Told,
  Trunk,
  TrunkFlow,
  workers
} from "../../support/flow-app.ts"
import { JobwireServe } from "../../support/jobwire-serve.ts"
import { remoteStore } from "../../support/remote-effect-mq.ts"
import { hear } from "../../support/told.ts"

const often = { pollSchedule: Schedule.spaced("30 millis") }

/** Runs a test with stores of its own, which outlive its workers. */
const withStores = <A, E>(
  name: string,
  test: Effect.Effect<A, E, Stores | Told | Scope.Scope>,
  transport: "websocket" | "http" = "websocket"
) =>
  Effect.scoped(test).pipe(
    Effect.provide(Layer.effect(Told, Queue.unbounded<string>())),
    Effect.provide(
      Layer.mergeAll(
        remoteStore(Parents, { store: `${name}-parents`, transport }),
        remoteStore(Children, { store: `${name}-children`, transport })
      )
    ),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

const branch = (key: string, ...leaves: ReadonlyArray<LeafSpec>): BranchSpec => ({ key, leaves })

const outcomes = (runs: ReadonlyArray<{ readonly outcome: string }>) => runs.map((run) => run.outcome)

/** Waits until a job has the state, which is some store round trips after the word that leads to it. */
const until = <A, E, R>(poll: Effect.Effect<A, E, R>, holds: (value: A) => boolean) =>
  Effect.repeat(poll, { until: holds, schedule: Schedule.spaced("30 millis") })

const jobs = Effect.fnUntraced(function* (store: JobStore.Service, name: string) {
  return (yield* store.list({ name, limit: 1000 })).items
})

/** How many jobs of a name are in each state. */
const states = Effect.fnUntraced(function* (store: JobStore.Service, name: string) {
  const found: Record<string, number> = {}
  for (const job of yield* jobs(store, name)) found[job.state] = (found[job.state] ?? 0) + 1
  return found
})

const served = layer(JobwireServe.layer, { excludeTestServices: true, timeout: "30 seconds" })

served("flows over two remote stores", (it) => {
  for (const transport of ["websocket", "http"] as const) {
    it.effect(`settle once over two levels, and collect what every leaf answered, over ${transport}`, () =>
      withStores(
        `nested-${transport}`,
        Effect.gen(function* () {
          yield* Layer.build(workers)
          const branches = [1, 2, 3].map((b) =>
            branch(`b${b}`, ...[1, 2, 3, 4].map((l) => answer(`b${b}l${l}`, 10 * b + l)))
          )
          const id = yield* Trunk.enqueue({ branches })
          expect(yield* Trunk.awaitResult(id, often)).toEqual({ sum: 270, completed: 3, failed: 0 })
          expect(outcomes(yield* Trunk.attempts(id))).toEqual(["fanned-out", "completed"])
          const children = yield* jobs(yield* Children, "Branch")
          expect(children).toHaveLength(3)
          for (const child of children) {
            expect(outcomes(yield* Branch.attempts(child.id))).toEqual(["fanned-out", "completed"])
          }
          const leaves = yield* jobs(yield* Parents, "Leaf")
          expect(leaves).toHaveLength(12)
          for (const leaf of leaves) expect(outcomes(yield* Leaf.attempts(leaf.id))).toEqual(["completed"])
        }),
        transport
      )
    )
  }

  it.effect("go on when a child fails, and see its error", () =>
    withStores(
      "continue",
      Effect.gen(function* () {
        yield* Layer.build(workers)
        const id = yield* Trunk.enqueue({
          branches: [branch("a", answer("a1", 1), fail("a2")), branch("none"), branch("b", answer("b1", 2))]
        })
        expect(yield* Trunk.awaitResult(id, often)).toEqual({ sum: 3, completed: 3, failed: 0 })
        const results = yield* (yield* TrunkFlow.childResults(id)).all
        expect(results.completed.map((child) => [child.key, child.value.failed])).toEqual([
          ["a", 1],
          ["b", 0],
          ["none", 0]
        ])
      })
    )
  )

  it.effect("fail at the first failure over both levels when they are strict, and stop all the rest", () =>
    withStores(
      "strict",
      Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        yield* Layer.build(workers).pipe(Effect.provideService(BeforeFailure, Deferred.await(gate)))
        const told = yield* Told
        const id = yield* StrictTrunk.enqueue({
          branches: [branch("a", hang("a1"), hang("a2")), branch("b", hang("b1"), fail("b2"))]
        })
        yield* hear(told, ["hang a1", "hang a2", "hang b1", "fail b2"])
        yield* Deferred.succeed(gate, undefined)
        const settled = yield* until(StrictTrunk.poll(id), (job) => job._tag === "Some" && job.value.state === "failed")
        assert(settled._tag === "Some")
        expect(settled.value.failedReason).toContain(`"b" failed`)
        expect(outcomes(yield* StrictTrunk.attempts(id))).toEqual(["fanned-out", "failed"])
        const parents = yield* Parents
        yield* until(states(parents, "StrictLeaf"), (found) => found["active"] === undefined)
        expect(yield* states(parents, "StrictLeaf")).toEqual({ failed: 1, cancelled: 3 })
        expect(yield* states(yield* Children, "StrictBranch")).toEqual({ failed: 1, cancelled: 1 })
        for (const child of yield* jobs(yield* Children, "StrictBranch")) {
          expect(outcomes(yield* StrictBranch.attempts(child.id))).toEqual(["fanned-out", child.state])
        }
        const results = yield* (yield* StrictTrunkFlow.childResults(id)).all
        expect(results.failed.map((child) => child.key)).toEqual(["b"])
        expect(results.cancelled.map((child) => child.key)).toEqual(["a"])
      })
    )
  )

  it.effect("stop on both levels when the parent is cancelled, and keep what was done", () =>
    withStores(
      "cancelled",
      Effect.gen(function* () {
        yield* Layer.build(workers)
        const told = yield* Told
        const id = yield* Trunk.enqueue({
          branches: [branch("a", answer("a1", 1), hang("a2")), branch("b", hang("b1"))]
        })
        yield* hear(told, ["answer a1", "hang a2", "hang b1"])
        const parents = yield* Parents
        yield* until(states(parents, "Leaf"), (found) => found["completed"] === 1)
        yield* Trunk.cancel(id)
        yield* hear(told, ["interrupted a2", "interrupted b1"])
        yield* until(states(parents, "Leaf"), (found) => found["active"] === undefined)
        expect(yield* states(parents, "Leaf")).toEqual({ completed: 1, cancelled: 2 })
        expect(yield* states(yield* Children, "Branch")).toEqual({ cancelled: 2 })
        expect(outcomes(yield* Trunk.attempts(id))).toEqual(["fanned-out", "cancelled"])
        const exit = yield* Effect.exit(Trunk.awaitResult(id, often))
        expect(Exit.isFailure(exit)).toBe(true)
      })
    )
  )

  it.effect("settle once each while their workers are interrupted and started again", () =>
    withStores(
      "restarts",
      Effect.gen(function* () {
        const told = yield* Told
        const trunks = 6
        const ids = yield* Effect.forEach(
          Array.from({ length: trunks }, (_, t) => t),
          (t) =>
            Trunk.enqueue({
              branches: [1, 2, 3].map((b) => branch(`b${b}`, ...[1, 2, 3].map((l) => answer(`t${t}b${b}l${l}`, l))))
            })
        )
        const settled = yield* Effect.forkChild(
          Effect.forEach(ids, (id) => Trunk.awaitResult(id, often), { concurrency: trunks })
        )
        // Each pair of workers lives until it has run a few leaves.
        while (settled.pollUnsafe() === undefined) {
          const scope = yield* Scope.make()
          yield* Layer.buildWithScope(workers, scope)
          yield* Effect.raceFirst(
            Effect.repeat(Queue.take(told), { times: 4 }),
            Effect.andThen(Fiber.await(settled), Effect.void)
          )
          yield* Scope.close(scope, Exit.void)
        }
        for (const result of yield* Fiber.join(settled)) expect(result).toEqual({ sum: 18, completed: 3, failed: 0 })
        for (const id of ids) expect(outcomes(yield* Trunk.attempts(id))).toEqual(["fanned-out", "completed"])
        const [parents, children] = [yield* Parents, yield* Children]
        expect(yield* states(parents, "Trunk")).toEqual({ completed: trunks })
        expect(yield* states(children, "Branch")).toEqual({ completed: 3 * trunks })
        expect(yield* states(parents, "Leaf")).toEqual({ completed: 9 * trunks })
        for (const child of yield* jobs(children, "Branch")) {
          expect(outcomes(yield* Branch.attempts(child.id))).toEqual(["fanned-out", "completed"])
        }
      })
    )
  )
})
