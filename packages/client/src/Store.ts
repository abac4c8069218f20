/** A `JobStore.Service` that hands every call to a server. All operations are made from the table, by one rule. */
import {
  invalidArgument,
  type JobStore,
  type JobStoreError,
  JobStoreRpcs,
  type OperationName,
  operationNames,
  toPayload,
  Validation
} from "@jobwire/protocol"
import { Cause, Effect, SchemaIssue, type Scope, Tracer } from "effect"
import { RpcClient } from "effect/rpc"
import { callInChunks } from "./ChunkedCalls.ts"
import { broken, connectionLost, describe, storeClosed } from "./Faults.ts"
import { gatherAcks } from "./GatheredAcks.ts"
import { type Headers, tried, type Trying } from "./Tries.ts"
import { type Options, parseOptions, type Settings } from "./Options.ts"
import { insist, longestDelayMs } from "./Patience.ts"
import { makeTransport, type Platform } from "./Platform.ts"

/** A remote store on a platform, for as long as the scope is open. */
export const makeStore = Effect.fnUntraced(function* (
  options: Options,
  platform: Platform
): Effect.fn.Return<JobStore.Service, JobStoreError, Scope.Scope> {
  const settings = yield* parseOptions(options)
  const transport = yield* makeTransport(settings, platform)
  // Spans cost time also when nobody collects them.
  const disableTracing = (yield* Tracer.Tracer) === Tracer.nativeTracer
  const client = yield* RpcClient.make(JobStoreRpcs, { flatten: true, spanPrefix: "jobwire", disableTracing }).pipe(
    Effect.provideService(RpcClient.Protocol, transport)
  )
  const state = { closed: false }
  // Runs before the client ends, which interrupts the calls that are open.
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      state.closed = true
    })
  )
  // Of the group's procedures the client takes the name and the payload of any; the table pairs them.
  return Validation.validated(serviceOf(settings, state, client as AnyCall), settings.limits)
})

type AnyCall = (
  name: OperationName,
  payload: unknown,
  options: { readonly headers: Headers }
) => Effect.Effect<unknown, unknown>
type AnyMethod = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

interface State {
  closed: boolean
}

const serviceOf = (settings: Settings, state: State, client: AnyCall): JobStore.Service => {
  const methods: Record<string, AnyMethod> = {}
  const once = (name: OperationName, args: ReadonlyArray<unknown>, headers: Headers) =>
    Effect.suspend(() =>
      state.closed
        ? Effect.fail(storeClosed(settings.endpoint.shown, false))
        : client(name, toPayload(name, args), { headers })
    ).pipe(Effect.catchCause((cause) => Effect.failCause(explain(settings, state, name, cause))))
  const trying: Trying = { forMs: settings.retryTimeoutMs, isOpen: () => !state.closed && settings.retryTimeoutMs > 0 }
  for (const name of operationNames) {
    methods[name] = (...args) => tried(name, (headers) => once(name, args, headers), trying)
  }
  const wait: JobStore.Service["awaitWake"] = (...args) =>
    // Its errors are those of the table.
    once("awaitWake", args, {}) as ReturnType<JobStore.Service["awaitWake"]>
  // Every operation of the table was put in; its schemas are those of the service's method.
  const service = methods as unknown as JobStore.Service
  const { maxMessageBytes } = settings
  return {
    ...service,
    enqueueMany: (requests) => callInChunks(requests, maxMessageBytes, "requests were enqueued", service.enqueueMany),
    ack: settings.gatherAcks ? gatherAcks(service, maxMessageBytes) : service.ack,
    ackMany: (acks) => callInChunks(acks, maxMessageBytes, "acks were carried out", service.ackMany),
    awaitWake: (queues, wakeToken) =>
      insist(wait(queues, wakeToken), {
        while: mayAskAgain,
        forMs: settings.outageTimeoutMs,
        forgetAfterMs: longestDelayMs
      })
  }
}

// A wait changes nothing, so one that was lost with its connection is asked again. One that could not be asked for as long
// as an outage may last is given up.
const mayAskAgain = ({ reason }: JobStoreError): boolean =>
  reason._tag === "DeadlineExceeded" || (reason._tag === "Unavailable" && reason.sent)

const formatIssue = SchemaIssue.makeFormatterDefault()

/** Errors of the operation pass; all else that can end a call becomes an error that says what happened. */
const explain = (
  settings: Settings,
  state: State,
  name: OperationName,
  cause: Cause.Cause<unknown>
): Cause.Cause<unknown> => {
  const url = settings.endpoint.shown
  if (Cause.hasDies(cause)) {
    const defect = Cause.squash(cause)
    // The client makes the payload by its schema, and throws this when the arguments are of other types.
    return defect instanceof Error && SchemaIssue.isIssue(defect.cause)
      ? Cause.fail(invalidArgument(name, `has arguments of a wrong type: ${describe(formatIssue(defect.cause))}`))
      : Cause.fail(broken(url, `failed in ${name}: ${describe(defect)}`))
  }
  if (Cause.hasFails(cause)) return cause
  // Nobody here interrupted the call, or this would not run.
  return Cause.fail(state.closed ? storeClosed(url, true) : connectionLost(url, "the server gave the call up"))
}
