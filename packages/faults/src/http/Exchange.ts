/** One HTTP request and its answer, with what is decided about them. */
import { Effect, type Scope } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Readable } from "node:stream"
import { type Copy, noRoom } from "../Copy.ts"
import type { Decision, DecisionOf } from "../Decision.ts"
import type { Kind } from "../Kinds.ts"
import { drain, gather, record } from "../Reading.ts"
import { type Call, sendBody, Trouble } from "../upstream/Call.ts"
import { headOf, type RequestHead } from "../upstream/Head.ts"
import type { Verdict, Workings } from "../Workings.ts"
import { answerAsBalancer, gone, reset, send } from "./Client.ts"
import { cutAnswer, cutRequest } from "./Cut.ts"

/** What an exchange works with. */
export interface Exchange {
  readonly workings: Workings
  readonly n: number
  /** The number of the client's connection. */
  readonly connection: number
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly head: RequestHead
}

type Step<A> = Effect.Effect<A, Trouble, Scope.Scope>

const open = ({ connection, head, workings }: Exchange): Step<Call> =>
  Effect.tap(workings.upstreams.open(head), ({ request }) => {
    request.once("finish", () => workings.overtaking.toServer.passed(connection))
    return Effect.void
  })

/** Has the request on its way to the next server. */
const start = (exchange: Exchange, body: Readable | Buffer): Step<Call> =>
  Effect.map(open(exchange), (call) => {
    sendBody(call, body)
    return call
  })

/** A copy that ends with the exchange, if nobody takes it. */
const makeCopy = ({ workings }: Exchange): Effect.Effect<Copy, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.sync(workings.copy), (copy) => Effect.sync(() => copy.drop()))

/** Has the request on its way, and keeps what is sent, if there is room for it. */
const startCopied = Effect.fnUntraced(function* (exchange: Exchange) {
  const { n, request, workings } = exchange
  const copy = yield* makeCopy(exchange)
  const call = yield* open(exchange)
  const recorded = record(request, copy)
  sendBody(call, request)
  const isWhole = yield* recorded
  if (!isWhole) workings.log.skipped(n, noRoom)
  return { call, copy: isWhole ? copy : undefined }
})

/** The answer to a call, as its head is there. */
const answerOf = (call: Call): Step<IncomingMessage> =>
  Effect.flatMap(call.answer, (answer) => {
    if (answer._tag === "Response") return Effect.succeed(answer.message)
    answer.socket.destroy()
    return Effect.fail(new Trouble({ message: `${call.upstream.name}: it upgraded a request that did not ask for it` }))
  })

const deliver = (exchange: Exchange, body: Readable | Buffer): Step<IncomingMessage> =>
  Effect.flatMap(start(exchange, body), answerOf)

/** Delivers it and throws the answer away. */
const deliverInVain = (exchange: Exchange, body: Readable | Buffer): Effect.Effect<void, Trouble> =>
  Effect.scoped(Effect.flatMap(deliver(exchange, body), drain))

// The server learns that the client has gone, as it would without a proxy.
const whileClientStays = <E, R>({ response }: Exchange, effect: Effect.Effect<void, E, R>) =>
  Effect.raceFirst(effect, gone(response))

const carry = (exchange: Exchange): Step<void> =>
  Effect.flatMap(start(exchange, exchange.request), (call) => pass(exchange, call))

const troubled = ({ connection, workings }: Exchange, { message }: Trouble): Effect.Effect<void> =>
  Effect.sync(() => workings.log.trouble(connection, message))

/** Delivers it where no client hears of it, nor of what went wrong. */
const deliverUnheard = (exchange: Exchange, bytes: Readable | Buffer): Effect.Effect<void> =>
  Effect.catch(deliverInVain(exchange, bytes), (trouble) => troubled(exchange, trouble))

const pass = (exchange: Exchange, call: Call): Step<void> =>
  Effect.flatMap(answerOf(call), (answer) => send(answer, exchange.response))

const repeat = Effect.fnUntraced(function* (exchange: Exchange, { answer }: DecisionOf<"repeat">) {
  const { workings } = exchange
  const { call, copy } = yield* startCopied(exchange)
  if (copy !== undefined && answer === "second") {
    const first = Effect.catch(Effect.flatMap(answerOf(call), drain), (trouble) => troubled(exchange, trouble))
    const second = copy.use((bytes) => Effect.flatMap(start(exchange, bytes), (call) => pass(exchange, call)))
    return yield* Effect.all([first, second], { concurrency: 2, discard: true })
  }
  if (copy !== undefined) {
    workings.run(workings.outstanding.while(copy.use((bytes) => deliverUnheard(exchange, bytes))))
  }
  yield* pass(exchange, call)
})

const lateRepeat = Effect.fnUntraced(function* (exchange: Exchange, { ms }: DecisionOf<"late-repeat">) {
  const { workings } = exchange
  const { call, copy } = yield* startCopied(exchange)
  if (copy !== undefined) {
    const late = copy.use((bytes) => Effect.andThen(Effect.sleep(ms), deliverUnheard(exchange, bytes)))
    // When this exchange has ended, in whatever way.
    yield* Effect.addFinalizer(() => Effect.sync(() => void workings.run(workings.outstanding.while(late))))
  }
  yield* pass(exchange, call)
})

const halfOpen = Effect.fnUntraced(function* (exchange: Exchange, { ms, side }: DecisionOf<"half-open">) {
  const { request, response, workings } = exchange
  const silence = workings.outstanding.while(Effect.sleep(ms))
  if (side === "answer") {
    const [answer] = yield* Effect.all([deliver(exchange, request), silence], { concurrency: 2 })
    return yield* whileClientStays(exchange, send(answer, response))
  }
  // What the client has sent arrives when the silence is over, whether the client is still there or not.
  const copy = yield* makeCopy(exchange)
  const [body] = yield* Effect.all([gather(request, copy), silence], { concurrency: 2 })
  const call = yield* start(exchange, body)
  yield* sent(call)
  yield* whileClientStays(exchange, pass(exchange, call))
})

const sent = ({ request }: Call): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const done = () => resume(Effect.void)
    if (request.writableFinished || request.destroyed) return done()
    request.once("finish", done).once("close", done)
  })

const balancer = Effect.fnUntraced(function* (exchange: Exchange, { delivered, status }: DecisionOf<"balancer">) {
  const { request, response, workings } = exchange
  if (delivered) {
    yield* Effect.raceFirst(deliverUnheard(exchange, request), Effect.sleep(workings.settings().balancerMs))
  } else {
    yield* drain(request)
  }
  answerAsBalancer(response, status)
})

const lose = (exchange: Exchange, silent: boolean): Effect.Effect<void> =>
  Effect.sync(() => {
    if (!silent) reset(exchange.request)
  })

// One that the client must not be able to call off by going away is not raced with its going.
const acts: { readonly [K in Kind]?: (exchange: Exchange, decision: DecisionOf<K>) => Step<void> } = {
  "drop-request": (exchange, { silent }) => Effect.andThen(drain(exchange.request), lose(exchange, silent)),
  "drop-answer": (exchange, { silent }) =>
    exchange.workings.outstanding.while(
      Effect.andThen(deliverInVain(exchange, exchange.request), lose(exchange, silent))
    ),
  repeat: (exchange, decision) => whileClientStays(exchange, repeat(exchange, decision)),
  "late-repeat": (exchange, decision) => whileClientStays(exchange, lateRepeat(exchange, decision)),
  delay: (exchange, { ms, side }) =>
    whileClientStays(
      exchange,
      side === "request"
        ? Effect.andThen(Effect.sleep(ms), carry(exchange))
        : Effect.flatMap(deliver(exchange, exchange.request), (answer) =>
            Effect.andThen(Effect.sleep(ms), send(answer, exchange.response))
          )
    ),
  reorder: (exchange, { ms }) => {
    const { toServer } = exchange.workings.overtaking
    return whileClientStays(exchange, Effect.andThen(toServer.wait(exchange.connection, ms), carry(exchange)))
  },
  cut: (exchange, { share, side }) =>
    side === "request"
      ? cutRequest(exchange.workings.upstreams, exchange.head, exchange.request, share)
      : Effect.flatMap(deliver(exchange, exchange.request), (answer) => cutAnswer(exchange.request, answer, share)),
  "half-open": halfOpen,
  balancer
}

const act = (exchange: Exchange, decision: Decision | undefined): Step<void> => {
  if (decision === undefined) return whileClientStays(exchange, carry(exchange))
  // The table has each decision under its own kind; a request is hit by no other.
  const found = acts[decision.kind] as ((exchange: Exchange, decision: Decision) => Step<void>) | undefined
  return found === undefined ? carry(exchange) : found(exchange, decision)
}

/** Carries a request to a server and its answer back, or does with them what was decided. */
export const exchange = (
  workings: Workings,
  { decision, n }: Verdict,
  connection: number,
  request: IncomingMessage,
  response: ServerResponse
): Effect.Effect<void> => {
  const made: Exchange = { workings, n, connection, request, response, head: headOf(request) }
  return Effect.scoped(act(made, decision)).pipe(
    Effect.catch((trouble) => {
      // A client that has left takes its request with it, which is no trouble of the server's.
      if (request.destroyed && !request.complete) return Effect.void
      reset(request)
      return troubled(made, trouble)
    }),
    // Nobody waits for an answer that will not come, whatever has ended this.
    Effect.onError(() => Effect.sync(() => reset(request)))
  )
}
