/** The client's side of an HTTP exchange. */
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { pipeline } from "node:stream"
import { textOf } from "../FaultsError.ts"
import { Trouble } from "../upstream/Call.ts"
import { answerHeaders } from "../upstream/Head.ts"

/** Ends the client's connection by a reset. */
export const reset = ({ socket }: IncomingMessage): void => void socket.resetAndDestroy()

/** Resolves when the client has gone away before it had its answer. */
export const gone = (response: ServerResponse): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const look = () => {
      if (!response.writableFinished) resume(Effect.void)
    }
    if (response.closed) return look()
    response.once("close", look)
    return Effect.sync(() => void response.off("close", look))
  })

const writeHead = (answer: IncomingMessage, response: ServerResponse): Effect.Effect<void, Trouble> =>
  Effect.try({
    try: () => {
      response.sendDate = false
      response.writeHead(answer.statusCode ?? 0, answer.statusMessage, answerHeaders(answer))
      // Of a stream, the head must not wait for the first bytes of the body.
      if (answer.headers["content-length"] === undefined) response.flushHeaders()
    },
    // Node reads some heads that it does not write.
    catch: (thrown) => new Trouble({ message: `the answer cannot be passed on: ${textOf(thrown)}` })
  })

const sendBody = (answer: IncomingMessage, response: ServerResponse): Effect.Effect<void> =>
  Effect.callback((resume) => {
    pipeline(answer, response, () => resume(Effect.void))
    return Effect.sync(() => {
      answer.destroy()
      response.destroy()
    })
  })

/** Passes an answer on. When the server breaks off in the middle of it, so does this. */
export const send = (answer: IncomingMessage, response: ServerResponse): Effect.Effect<void, Trouble> =>
  Effect.suspend(() =>
    response.destroyed ? Effect.void : Effect.andThen(writeHead(answer, response), sendBody(answer, response))
  )

const titles = { 502: "Bad Gateway", 503: "Service Temporarily Unavailable", 504: "Gateway Time-out" } as const

/** A status of a balancer. */
export type BalancerStatus = keyof typeof titles

/** The page that a balancer has for this status. */
export const page = (status: BalancerStatus): string =>
  `<html>\r\n<head><title>${status} ${titles[status]}</title></head>\r\n<body>\r\n` +
  `<center><h1>${status} ${titles[status]}</h1></center>\r\n</body>\r\n</html>\r\n`

/** Answers as a balancer does. */
export const answerAsBalancer = (response: ServerResponse, status: BalancerStatus): void => {
  if (response.destroyed) return
  response.writeHead(status, titles[status], { "content-type": "text/html" })
  response.end(page(status))
}

/** The same for an upgrade, where nothing but the connection is left to answer on. */
export const balancerBytes = (status: BalancerStatus): string => {
  const body = page(status)
  const head = `HTTP/1.1 ${status} ${titles[status]}\r\ncontent-type: text/html\r\ncontent-length: ${body.length}\r\n`
  return `${head}connection: close\r\n\r\n${body}`
}
