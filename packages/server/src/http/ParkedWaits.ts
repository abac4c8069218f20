/**
 * How many waits are parked at a time: each costs memory for as long as it waits. A new one over a limit is refused; those that
 * are parked stay.
 */
import { Context, Effect } from "effect"
import { CurrentCaller } from "../tenant/Caller.ts"
import { unavailable } from "./Unavailable.ts"

/** How many waits may be parked at a time. */
export interface Limits {
  /** Of all tenants together. */
  readonly server: number
  /** Of one tenant, in all its stores. */
  readonly tenant: number
}

/** The limits of a server that is told none. */
export const defaultLimits: Limits = { server: 50_000, tenant: 20_000 }

/** The limits of the server that is built. */
export const CurrentLimits = Context.Reference<Limits>("@jobwire/server/ParkedWaits", {
  defaultValue: () => defaultLimits
})

// About as long as waits are held over HTTP, so that some have gone when everybody is back.
const retryWithinMs = 5000

const full = (whose: string, limit: number) =>
  unavailable(
    `${whose} has reached its limit of ${limit} parked waits: wait again later, or at another server`,
    retryWithinMs
  )

/** The places of one server. The result holds one for as long as a wait takes, however that ends, or refuses it. */
export const make = Effect.gen(function* () {
  const limits = yield* CurrentLimits
  const ofTenant = new Map<string, number>()
  let ofServer = 0

  const change = (tenant: string, by: 1 | -1) => {
    ofServer += by
    const count = (ofTenant.get(tenant) ?? 0) + by
    if (count === 0) ofTenant.delete(tenant)
    else ofTenant.set(tenant, count)
  }

  return <A, E, R>(wait: Effect.Effect<A, E, R>) =>
    Effect.withFiber<A, E | Effect.Error<ReturnType<typeof full>>, R>((fiber) => {
      const { tenant } = fiber.getRef(CurrentCaller)
      if ((ofTenant.get(tenant) ?? 0) >= limits.tenant) {
        return full(`the tenant ${JSON.stringify(tenant)}`, limits.tenant)
      }
      if (ofServer >= limits.server) return full("the server", limits.server)
      return Effect.acquireUseRelease(
        Effect.sync(() => change(tenant, 1)),
        () => wait,
        () => Effect.sync(() => change(tenant, -1))
      )
    })
})
