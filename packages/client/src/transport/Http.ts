/** Calls over HTTP: one POST each. A call that could not even leave is tried again while an outage may last. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect, type Scope, Semaphore } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"
import { RpcClient, RpcSerialization } from "effect/rpc"
import { broken, describe, noAnswer } from "../Faults.ts"
import { live, now } from "../LiveClock.ts"
import type { Settings } from "../Options.ts"
import { insist } from "../Patience.ts"
import { authorized } from "../Token.ts"
import { CallList } from "./CallList.ts"
import { expire } from "./Deadline.ts"
import { networkError, readReply, refusalOf, type Reply } from "./Responses.ts"
import {
  type Answer,
  type Call,
  type Deliver,
  failAll,
  failed,
  isOpenEnded,
  refuseLong,
  type Transport
} from "./Transport.ts"

// Enough to keep a server busy. A thousand callers would else open a thousand connections in one moment.
const callsAtOnce = 64

const json = RpcSerialization.json
const { encode } = json.makeUnsafe()

/** A transport over HTTP, for as long as the scope is open. The client's owner closes its connections. */
export const makeHttp = (
  settings: Settings,
  client: HttpClient.HttpClient
): Effect.Effect<Transport, never, Scope.Scope> =>
  RpcClient.Protocol.make(
    Effect.fnUntraced(function* (deliver) {
      const { callTimeoutMs, waitSeconds } = settings
      const turns = yield* Semaphore.make(callsAtOnce)
      const line: Line = { settings, client, turns, calls: new CallList(), waits: new CallList() }
      yield* Effect.forkScoped(endSilences(line.calls, settings, callTimeoutMs, deliver))
      // The server ends a hold in time; one that it does not end is a connection that has died.
      yield* Effect.forkScoped(endSilences(line.waits, settings, callTimeoutMs + waitSeconds * 1000, deliver))
      return {
        send: (clientId, message) =>
          message._tag === "Request"
            ? exchange(line, clientId, message).pipe(
                Effect.catch((error) => Effect.succeed(failed(message.id, error))),
                Effect.flatMap((exit) => deliver(clientId, exit)),
                live
              )
            : // A call that is interrupted closes its request, and that is what tells the server.
              Effect.void,
        supportsAck: false,
        supportsTransferables: false,
        codecFor: json.codecFor
      }
    })
  )

/** What the calls of a store share. */
interface Line {
  readonly settings: Settings
  readonly client: HttpClient.HttpClient
  readonly turns: Semaphore.Semaphore
  /** Calls that the server should answer soon. */
  readonly calls: CallList
  /** Calls that the server answers when something happens. */
  readonly waits: CallList
}

// Answers the calls that have gone unanswered for too long; the RPC client then interrupts what still runs of them.
const endSilences = (list: CallList, settings: Settings, afterMs: number, deliver: Deliver): Effect.Effect<never> =>
  expire(list, afterMs, (calls) => failAll(deliver, calls, noAnswer(settings.endpoint.shown, afterMs)))

const exchange = (line: Line, clientId: number, call: Call): Effect.Effect<Answer, JobStoreError> => {
  const { client, settings, turns } = line
  // The serialization is JSON, whose text is a string.
  const message = encode(call) as string
  const refusal = refuseLong(call, message, settings.maxMessageBytes)
  if (refusal !== undefined) return Effect.fail(refusal)
  const url = settings.endpoint.shown
  const openEnded = isOpenEnded(call)
  const list = openEnded ? line.waits : line.calls
  const sending = client.execute(requestOf(settings, call, message)).pipe(
    Effect.flatMap(readReply),
    Effect.mapError((error) => networkError(url, error, true)),
    Effect.flatMap((reply) => answerIn(url, reply, call, message))
  )
  // Parked waits take no turn: they would keep it from calls for as long as nothing happens.
  const inTurn = openEnded ? sending : turns.withPermits(1)(sending)
  const attempt = Effect.suspend(() => {
    list.add({ clientId, id: call.id, message, openEnded }, now())
    return Effect.ensuring(
      inTurn,
      Effect.sync(() => list.take(call.id))
    )
  })
  return insist(attempt, { while: neverSent, forMs: settings.outageTimeoutMs })
}

const neverSent = ({ reason }: JobStoreError): boolean => reason._tag === "Unavailable" && !reason.sent

const requestOf = (settings: Settings, call: Call, message: string): HttpClientRequest.HttpClientRequest => {
  const request = HttpClientRequest.post(settings.endpoint.http).pipe(
    HttpClientRequest.bodyText(message, json.contentType),
    (bare) => authorized(bare, settings.token)
  )
  return isOpenEnded(call) ? HttpClientRequest.setHeader(request, "prefer", `wait=${settings.waitSeconds}`) : request
}

const answerIn = (url: string, reply: Reply, call: Call, message: string): Effect.Effect<Answer, JobStoreError> => {
  if (reply.status < 200 || reply.status > 299) return Effect.fail(refusalOf(url, reply, message))
  const exit = parse(reply.text).find((value): value is Answer => isExit(value) && value.requestId === call.id)
  return exit === undefined
    ? Effect.fail(broken(url, `sent no answer to ${call.tag} but ${describe(reply.text) || "nothing"}`))
    : Effect.succeed(exit)
}

const parse = (text: string): ReadonlyArray<unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
  } catch {
    return []
  }
}

const isExit = (message: unknown): message is Answer =>
  typeof message === "object" && message !== null && "_tag" in message && message._tag === "Exit" && "exit" in message
