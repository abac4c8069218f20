/** Heads of requests and answers: as they are passed on, and as text on the wire. */
import type { IncomingMessage } from "node:http"

/** A list of names and values in turn, as `node:http` has raw headers. */
export type RawHeaders = ReadonlyArray<string>

/** The head of a request, as a server gets it. */
export interface RequestHead {
  readonly method: string
  readonly path: string
  readonly headers: RawHeaders
}

// They belong to one connection, and are made anew for the next.
const hopByHop = new Set(["connection", "keep-alive", "proxy-connection", "expect", "te", "trailer", "upgrade"])

const filtered = (headers: RawHeaders, isDropped: (name: string) => boolean): Array<string> => {
  const kept: Array<string> = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = headers[at] ?? ""
    if (!isDropped(name.toLowerCase())) kept.push(name, headers[at + 1] ?? "")
  }
  return kept
}

const namedByConnection = ({ headers }: IncomingMessage): ReadonlySet<string> =>
  new Set((headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase()))

/** The head of a request as it is passed on. */
export const headOf = (request: IncomingMessage): RequestHead => {
  const named = namedByConnection(request)
  return {
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers: filtered(request.rawHeaders, (name) => hopByHop.has(name) || named.has(name))
  }
}

/**
 * The head of a request for an upgrade as it is passed on: without extensions. A compressed message can be read only behind all
 * those before it, so that one that is lost would break all that follow.
 */
export const upgradeHeadOf = (request: IncomingMessage): RequestHead => ({
  method: request.method ?? "GET",
  path: request.url ?? "/",
  headers: filtered(request.rawHeaders, (name) => name === "sec-websocket-extensions")
})

/** The headers of an answer as they are passed on; how its body is framed is up to who writes it. */
export const answerHeaders = (answer: IncomingMessage): Array<string> => {
  const named = namedByConnection(answer)
  return filtered(answer.rawHeaders, (name) => {
    return name === "transfer-encoding" || hopByHop.has(name) || named.has(name)
  })
}

const textOfHeaders = (headers: RawHeaders): string => {
  let text = ""
  for (let at = 0; at + 1 < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`
  return text
}

// Node has read the heads byte by byte into characters, and this is the way back.
const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1")

/** The head of a request on the wire. */
export const requestBytes = ({ headers, method, path }: RequestHead): Buffer =>
  bytesOf(`${method} ${path} HTTP/1.1\r\n${textOfHeaders(headers)}\r\n`)

/** The head of an answer on the wire. */
export const answerBytes = (answer: IncomingMessage, headers: RawHeaders = answer.rawHeaders): Buffer =>
  bytesOf(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${textOfHeaders(headers)}\r\n`)
