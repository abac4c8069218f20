/**
 * Calls by HTTP: one POST carries one effect/rpc message, or an array of them, as JSON, and is answered with the array of
 * answers when all are there. When the caller goes away, its calls are interrupted.
 */
import { ByteSize, Deferred, Effect, Exit } from "effect"
import { HttpIncomingMessage, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { RpcMessage } from "effect/rpc"
import { answerText } from "./AnswerText.ts"
import { connectionOf } from "./Connection.ts"
import { CurrentDelivery, Delivery } from "./Delivery.ts"
import type { Refusal } from "./Door.ts"
import { Drain } from "./Drain.ts"
import * as Envelope from "./Envelope.ts"
import * as Problem from "./Problem.ts"
import * as RpcProtocol from "./RpcProtocol.ts"

/** Refuses a body that need not be read to be refused. */
const checkHead = (request: HttpServerRequest.HttpServerRequest, limit: number): Effect.Effect<void, Refusal> => {
  const { "content-encoding": encoding, "content-length": length, "content-type": type = "" } = request.headers
  const [mediaType = ""] = type.split(";")
  if (mediaType.trim().toLowerCase() !== "application/json") {
    return Effect.fail(Problem.unsupportedMediaType("The body must be JSON: send content-type: application/json."))
  }
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity") {
    return Effect.fail(Problem.unsupportedMediaType("The body must not be compressed."))
  }
  return length !== undefined && Number(length) > limit ? Effect.fail(Problem.contentTooLarge(limit)) : Effect.void
}

// Bytes that are no UTF-8 are refused, as replacing them would keep something else than was sent.
const decoder = new TextDecoder("utf-8", { fatal: true })

const readText = (request: HttpServerRequest.HttpServerRequest, limit: number): Effect.Effect<string, Refusal> =>
  request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit)),
    Effect.mapError(({ reason }) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"
        ? Problem.contentTooLarge(limit)
        : Problem.badRequest("The body could not be read to its end.")
    ),
    Effect.flatMap((bytes) =>
      Effect.try({ try: () => decoder.decode(bytes), catch: () => Problem.badRequest("The body is not UTF-8.") })
    )
  )

const parse = (text: string): Effect.Effect<ReadonlyArray<RpcMessage.RequestEncoded>, Refusal> => {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return Effect.fail(Problem.badRequest("The body is not JSON."))
  }
  const requests: Array<RpcMessage.RequestEncoded> = []
  const ids = new Set<string | number>()
  for (const value of Array.isArray(parsed) ? parsed : [parsed]) {
    const read = Envelope.read(value)
    if ("problem" in read) return Effect.fail(Problem.badRequest(`The body is not an RPC message: ${read.problem}.`))
    if (read.message._tag !== "Request") {
      return Effect.fail(Problem.badRequest(`A POST takes Request messages only, not ${read.message._tag}.`))
    }
    if (ids.has(read.message.id)) return Effect.fail(Problem.badRequest("Two messages have the same id."))
    ids.add(read.message.id)
    requests.push(read.message)
  }
  return Effect.succeed(requests)
}

type Deliveries = Map<string | number, Delivery>

const endAll = (deliveries: Deliveries, wereDelivered: boolean): void => {
  for (const delivery of deliveries.values()) delivery.end(wereDelivered)
}

/** The answers of one request, which are delivered when it ends with its response sent, and not when its caller has gone. */
const makeDeliveries = Effect.acquireRelease(
  Effect.sync((): Deliveries => new Map()),
  (deliveries, exit) => Effect.sync(() => endAll(deliveries, Exit.isSuccess(exit)))
)

/** The protocol for an `RpcServer`, and the handler of a POST that feeds it. */
export const make = Effect.fnUntraced(function* (limit: number) {
  const drain = yield* Drain
  const rpc = yield* RpcProtocol.make({ supportsSpanPropagation: false })

  // From when it is read, so that nobody waits for a body that never ends, until its answer is sent.
  const countAsRunning = Effect.acquireRelease(
    Effect.sync(() => drain.running(1)),
    () => Effect.sync(() => drain.running(-1))
  )

  const receive = (id: number, request: RpcMessage.RequestEncoded, deliveries: Deliveries) => {
    const delivery = new Delivery()
    deliveries.set(request.id, delivery)
    return Effect.provideService(rpc.receive(id, request), CurrentDelivery, delivery)
  }

  const carryOut = (requests: ReadonlyArray<RpcMessage.RequestEncoded>, deliveries: Deliveries) =>
    Effect.suspend(() => {
      const answers: Array<RpcMessage.FromServerEncoded> = []
      const ended = Deferred.makeUnsafe<void>()
      const id = rpc.connect({
        send: (answer) => {
          answers.push(answer)
          if (answer._tag === "Exit" && answer.exit._tag === "Failure") deliveries.get(answer.requestId)?.end(false)
        },
        end: () => Deferred.doneUnsafe(ended, Effect.void)
      })
      return Effect.forEach(requests, (request) => receive(id, request, deliveries), { discard: true }).pipe(
        Effect.andThen(rpc.receive(id, { _tag: "Eof" })),
        Effect.andThen(Deferred.await(ended)),
        Effect.as(answers),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            if (Exit.isSuccess(exit)) return rpc.forget(id)
            rpc.disconnect(id)
            endAll(deliveries, false)
          })
        )
      )
    })

  /** Carries out the calls of an admitted request. Its fiber's context is the one that the handlers get. */
  const handle = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    yield* checkHead(request, limit)
    const requests = yield* Effect.flatMap(readText(request, limit), parse)
    yield* countAsRunning
    const deliveries = yield* makeDeliveries
    const answers = yield* carryOut(requests, deliveries)
    if (connectionOf(request)?.destroyed === true) endAll(deliveries, false)
    return HttpServerResponse.text(`[${answers.map(answerText).join(",")}]`, { contentType: "application/json" })
  })

  return { protocol: rpc.protocol, handle }
})
