/** effect-mq's workers before a network that loses answers: they call again, and every job still ends once. */
import * as ToTheirs from "@jobwire/client/effect-mq"
import { describe, expect, it } from "@effect/vitest"
import { JobStore as Ours, Limits } from "@jobwire/protocol"
import { MemoryJobStore } from "@jobwire/server"
import * as FromTheirs from "@jobwire/server/effect-mq"
import { Context, Effect, Layer, Queue, References, Schedule } from "effect"
import { MemoryJobStore as TheirMemoryJobStore } from "effect-mq"
import { answer, Children, Parents, Told, Trunk, workers } from "../support/flow-app.ts"
import { lossy } from "../support/lossy-store.ts"

const drivers: Record<string, Layer.Layer<Ours.JobStore>> = {
  "our memory driver": MemoryJobStore.layer,
  "effect-mq's memory store behind the wrapper": FromTheirs.layer.pipe(Layer.provide(TheirMemoryJobStore.layer))
}

const outcomes = (runs: ReadonlyArray<{ readonly outcome: string }>) => runs.map((run) => run.outcome)

/** The stores of a driver as effect-mq's, in the context of a producer or, with answers lost, of workers. */
const stores = (parents: Ours.Service, children: Ours.Service) =>
  Context.make(Parents, ToTheirs.make(parents, Limits.defaults)).pipe(
    Context.add(Children, ToTheirs.make(children, Limits.defaults))
  )

for (const [name, driver] of Object.entries(drivers)) {
  describe(name, () => {
    it.live("every third answer of every operation is lost", () =>
      Effect.gen(function* () {
        const build = Effect.map(Layer.build(Layer.fresh(driver)), (context) => Context.get(context, Ours.JobStore))
        const [parents, children] = [yield* build, yield* build]
        const told = Layer.effect(Told, Queue.unbounded<string>())
        yield* Layer.build(workers).pipe(
          Effect.provide(told),
          Effect.provide(stores(lossy(parents, 3), lossy(children, 3)))
        )
        yield* Effect.gen(function* () {
          const branches = ["a", "b"].map((key) => ({
            key,
            leaves: [1, 2, 3].map((number) => answer(`${key}${number}`, number))
          }))
          const id = yield* Trunk.enqueue({ branches })
          const result = yield* Trunk.awaitResult(id, { pollSchedule: Schedule.spaced("30 millis") })
          expect(result).toEqual({ sum: 12, completed: 2, failed: 0 })
          expect(outcomes(yield* Trunk.attempts(id))).toEqual(["fanned-out", "completed"])
        }).pipe(Effect.provide(stores(parents, children)))
        const leaves = (yield* parents.list({ name: "Leaf" })).items
        expect(leaves).toHaveLength(6)
        for (const { id } of leaves) expect(outcomes(yield* parents.getAttempts(id))).toEqual(["completed"])
        const branches = (yield* children.list({ name: "Branch" })).items
        expect(branches).toHaveLength(2)
        for (const { id } of branches) {
          expect(outcomes(yield* children.getAttempts(id))).toEqual(["fanned-out", "completed"])
        }
      }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
    )
  })
}
