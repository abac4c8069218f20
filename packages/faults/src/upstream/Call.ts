/** One request to one server, and its answer. */
import { Data, Deferred, Effect, type Scope } from "effect"
import { type Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"
import type { Socket } from "node:net"
import type { Readable } from "node:stream"
import { textOf } from "../FaultsError.ts"
import type { Upstream } from "../Settings.ts"
import type { RequestHead } from "./Head.ts"

/** A server could not be reached, or went away before it had answered. */
export class Trouble extends Data.TaggedError("Trouble")<{ readonly message: string }> {}

/** What a server says to a request. */
export type Answer =
  | { readonly _tag: "Response"; readonly message: IncomingMessage }
  | { readonly _tag: "Upgraded"; readonly message: IncomingMessage; readonly socket: Socket; readonly first: Buffer }

/** A request that has a connection. */
export interface Call {
  readonly upstream: Upstream
  readonly request: ClientRequest
  readonly answer: Effect.Effect<Answer, Trouble>
}

const create = (upstream: Upstream, head: RequestHead, agent: Agent | false): Effect.Effect<ClientRequest, Trouble> =>
  Effect.try({
    try: () =>
      httpRequest({
        host: upstream.host,
        port: upstream.port,
        method: head.method,
        path: head.path,
        headers: head.headers,
        agent
      }),
    // What came from a client and was read by Node can be written by Node, but for what its checks of writing find.
    catch: (thrown) => new Trouble({ message: `the request cannot be passed on: ${textOf(thrown)}` })
  })

const watch = (upstream: Upstream, request: ClientRequest) => {
  const connected = Deferred.makeUnsafe<void, Trouble>()
  const answer = Deferred.makeUnsafe<Answer, Trouble>()
  const answered = (value: Answer) => Deferred.doneUnsafe(answer, Effect.succeed(value))
  const broken = (why: string) => {
    const trouble = Effect.fail(new Trouble({ message: `${upstream.name}: ${why}` }))
    Deferred.doneUnsafe(connected, trouble)
    Deferred.doneUnsafe(answer, trouble)
  }
  request.on("error", (error) => broken(textOf(error)))
  request.once("close", () => broken("it closed the connection"))
  request.once("response", (message) => answered({ _tag: "Response", message }))
  request.once("upgrade", (message, socket: Socket, first) => answered({ _tag: "Upgraded", message, socket, first }))
  request.once("socket", (socket) => {
    socket.setNoDelay(true)
    if (!socket.connecting) Deferred.doneUnsafe(connected, Effect.void)
    else socket.once("connect", () => Deferred.doneUnsafe(connected, Effect.void))
  })
  return { connected: Deferred.await(connected), answer: Deferred.await(answer) }
}

/** A request whose connection is there, and of which nothing was sent yet. It ends with the scope, if it has not ended before. */
export const open = Effect.fnUntraced(function* (
  upstream: Upstream,
  head: RequestHead,
  agent: Agent | false
): Effect.fn.Return<Call, Trouble, Scope.Scope> {
  const request = yield* Effect.acquireRelease(create(upstream, head, agent), (request) =>
    Effect.sync(() => void request.destroy())
  )
  const { answer, connected } = watch(upstream, request)
  yield* connected
  return { upstream, request, answer }
})

/** Sends the body of a request, as it comes. What breaks shows in the answer. */
export const sendBody = ({ request }: Call, body: Readable | Buffer): void => {
  if (Buffer.isBuffer(body)) {
    request.end(body)
    return
  }
  body.pipe(request)
  // A client that goes away leaves half a request, which the server must not take for a whole one.
  body.once("close", () => {
    if (!body.readableEnded) request.destroy()
  })
  // A server may answer before it has read all, and close: the client goes on to send what nobody reads.
  request.once("error", () => {
    body.unpipe(request)
    body.resume()
  })
}
