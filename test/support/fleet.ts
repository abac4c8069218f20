/** Three servers on one PostgreSQL database behind a balancer that sends every call to the next of them. */
import { JobStore, operationNames } from "@jobwire/protocol"
import { Context, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { postgresServers } from "./fresh-postgres.ts"
import * as Network from "./network.ts"

/** A store whose every call goes to the next of these. */
export const inTurn = (stores: ReadonlyArray<JobStore.Service>): JobStore.Service => {
  let turn = 0
  const next = (name: keyof JobStore.Service) => {
    const method = stores[turn++ % stores.length]?.[name]
    if (method === undefined) throw new Error("there is no server")
    return method
  }
  const methods = operationNames.map((name) => [
    name,
    // Each method is called with the arguments of its own name.
    (...parameters: ReadonlyArray<never>) =>
      Effect.suspend(() => (next(name) as (...all: ReadonlyArray<never>) => Effect.Effect<unknown>)(...parameters))
  ])
  return JobStore.JobStore.of(Object.fromEntries(methods))
}

/** A new store each time the layer is built, seen through three servers in turn. */
export const freshFleet = (transport: "websocket" | "http"): Layer.Layer<JobStore.JobStore, unknown> =>
  Layer.effect(
    JobStore.JobStore,
    Effect.gen(function* () {
      const drivers = postgresServers(3, randomUUID())
      const stores = yield* Effect.forEach(drivers, (driver) =>
        Effect.map(Layer.build(Layer.fresh(Network.remote(driver, transport))), Context.get(JobStore.JobStore))
      )
      return inTurn(stores)
    })
  )
