/**
 * The operations behind the door, made from the table: check the scope, find the store, call the method of the same name.
 * Whatever goes wrong inside a store reaches the caller as a `JobStoreError`, and nobody else.
 */
import {
  Call as CallKey,
  type JobStore,
  JobStoreError,
  JobStoreRpcs,
  type OperationName,
  operationNames,
  type OperationRpc,
  operations,
  toArguments
} from "@jobwire/protocol"
import { Cause, Effect } from "effect"
import type { Headers } from "effect/http"
import { Rpc, type RpcGroup } from "effect/rpc"
import { JobStores } from "../JobStores.ts"
import { type Caller, CurrentCaller } from "../tenant/Caller.ts"
import { Drain } from "./Drain.ts"
import { CurrentHold } from "./Hold.ts"
import * as ParkedWaits from "./ParkedWaits.ts"
import { sleep } from "../LiveClock.ts"
import { unavailable } from "./Unavailable.ts"

type Call = (payload: Record<string, unknown>) => Effect.Effect<unknown, unknown>

const forbidden = (operation: OperationName): JobStoreError => {
  const { scope } = operations[operation]
  return new JobStoreError({
    message: `${operation} needs a token with the scope ${scope}, which this one does not have`,
    reason: { _tag: "Forbidden", scope }
  })
}

const draining = unavailable(
  "the server is stopping and hands out no more jobs: claim at another, or when it is back",
  1000
)

const cutShort = (operation: OperationName): JobStoreError =>
  new JobStoreError({
    message: `${operation} was cut short in the server, and may or may not have been carried out`,
    reason: { _tag: "Unavailable", url: undefined, sent: true }
  })

const fault = (operation: OperationName): JobStoreError =>
  new JobStoreError({
    message: `${operation} failed by a fault in the server, which its log describes`,
    reason: { _tag: "Defect" }
  })

/** What was not foreseen becomes an error of this call. The log says where it happened; the caller is told no more. */
const contain = (operation: OperationName, { store, tenant }: Caller, cause: Cause.Cause<unknown>) => {
  if (cause.reasons.every(Cause.isFailReason)) return Effect.failCause(cause)
  if (Cause.hasInterruptsOnly(cause)) return Effect.fail(cutShort(operation))
  return Effect.logError(`a fault in ${operation}`, cause).pipe(
    Effect.annotateLogs({ operation, tenant, store }),
    Effect.andThen(Effect.fail(fault(operation)))
  )
}

const callStore =
  (stores: JobStores["Service"], operation: OperationName): Call =>
  (payload) =>
    Effect.withFiber((fiber) => {
      const caller = fiber.getRef(CurrentCaller)
      if (!caller.scopes.has(operations[operation].scope)) return Effect.fail(forbidden(operation))
      return stores.get(caller).pipe(
        Effect.flatMap((store) => invoke(store, operation, payload)),
        Effect.catchCause((cause) => contain(operation, caller, cause))
      )
    })

const invoke = (store: JobStore.Service, operation: OperationName, payload: Record<string, unknown>) => {
  // The table gives each method its own arguments, which `toArguments` puts in their order.
  const method = store[operation] as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>
  return method(...toArguments(operation, payload))
}

/** A wait ends as the store says, when its hold is over, or when the server stops: waking for nothing is allowed. */
const endWithHold =
  (call: Call, drain: Drain["Service"]): Call =>
  (payload) =>
    Effect.withFiber((fiber) => {
      const hold = fiber.getRef(CurrentHold)
      const ends = hold === Infinity ? drain.endOfWait : Effect.raceFirst(drain.endOfWait, sleep(hold))
      return Effect.raceFirst(call(payload), ends)
    })

/** The operations that hand out jobs, which a server does no more once it stops. */
const handingOut = ["claim", "claimMany"] as const

const unlessDraining =
  (call: Call, drain: Drain["Service"]): Call =>
  (payload) =>
    Effect.suspend(() => (drain.hasBegun() ? draining : call(payload)))

/** The operation under the key that its caller gave. */
const underKey =
  (call: Call) =>
  (payload: Record<string, unknown>, { headers }: { readonly headers: Headers.Headers }) => {
    const key = headers[CallKey.header]
    return key === undefined ? call(payload) : Effect.provideService(call(payload), CallKey.CurrentCall, key)
  }

/** The handlers of all operations, by name. */
export const make = Effect.gen(function* () {
  const stores = yield* JobStores
  const drain = yield* Drain
  const handlers: Record<string, unknown> = {}
  for (const operation of operationNames) handlers[operation] = underKey(callStore(stores, operation))
  for (const operation of handingOut)
    handlers[operation] = underKey(unlessDraining(callStore(stores, operation), drain))
  const park = yield* ParkedWaits.make
  const held = endWithHold(callStore(stores, "awaitWake"), drain)
  const awaitWake: Call = (payload) => park(held(payload))
  // Forked, so that no limit on calls at a time would ever count those that only wait.
  handlers["awaitWake"] = (payload: Record<string, unknown>) => Rpc.fork(awaitWake(payload))
  // Built from the same table as the group, so each name has the handler of its types; a test compares the names.
  return handlers as unknown as RpcGroup.HandlersFrom<OperationRpc<OperationName>>
})

/** The handlers as services, which an `RpcServer` looks up. */
export const layer = JobStoreRpcs.toLayer(make)
