/** What an HTTP response means that is no answer to a call: refusals at the door, proxies, other servers. */
import { type JobStoreError, Json } from "@jobwire/protocol"
import { Effect, Option, Schema } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import { ProblemDetails } from "effect/http"
import {
  broken,
  connectionLost,
  describe,
  forbidden,
  type ShownUrl,
  tooLarge,
  turnedAway,
  unauthorized,
  unreachable
} from "../Faults.ts"

/** A response that was read to its end. */
export interface Reply {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

/** Reads a response to its end. */
export const readReply = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<Reply, HttpClientError.HttpClientError> =>
  Effect.map(response.text, (text) => ({
    status: response.status,
    contentType: response.headers["content-type"] ?? "",
    text
  }))

const decodeProblem = Schema.decodeUnknownOption(Schema.fromJsonString(ProblemDetails.Schema))

// A Jobwire server explains itself in a problem document; a page of HTML is a proxy's, and says nothing to a program.
const problemIn = (reply: Reply): ProblemDetails.ProblemDetails | undefined =>
  reply.contentType.startsWith(ProblemDetails.contentType)
    ? Option.getOrUndefined(decodeProblem(reply.text))
    : undefined

const detailOf = (problem: ProblemDetails.ProblemDetails | undefined): string => {
  const detail = problem?.detail ?? problem?.title
  // It goes into the middle of a sentence, so its full stop goes.
  return detail === undefined ? "" : `: ${describe(detail.replace(/\.$/, ""))}`
}

// Statuses that say: not now, and nothing was done.
const notNow = new Set([408, 425, 429])

/** The error that a reply without a success status stands for. `message` is the text of the call, if one was sent. */
export const refusalOf = (url: ShownUrl, reply: Reply, message: string | undefined): JobStoreError => {
  const problem = problemIn(reply)
  const detail = detailOf(problem)
  const { status } = reply
  const sent = message !== undefined
  switch (status) {
    case 401:
      return unauthorized(url, detail)
    case 403:
      return forbidden(url, detail)
    case 413:
      return tooLarge(url, Json.utf8Length(message ?? ""), problem?.limit)
    case 503:
      // At the door of a Jobwire server nothing has been done yet; a proxy may have passed the call on before it gave up.
      return turnedAway(url, sent && problem === undefined, `it answered ${status}${detail}`)
  }
  if (status >= 500) return turnedAway(url, sent, `it answered ${status}${detail}`)
  if (notNow.has(status)) return turnedAway(url, false, `it answered ${status}${detail}`)
  const advice = problem === undefined ? ": a Jobwire server does not; check the url of this store" : detail
  return broken(url, `answered ${status}${advice}`)
}

// What the network says before anything of a request has left: the names of Node and undici.
const neverLeft = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "UND_ERR_CONNECT_TIMEOUT"
])

interface NetworkFault {
  readonly code: string | undefined
  readonly text: string
}

// The first cause with a code says most; `fetch` wraps it in an error that says "fetch failed".
const networkFaultOf = (thrown: unknown): NetworkFault => {
  let deepest: unknown = thrown
  for (let depth = 0; depth < 8 && typeof deepest === "object" && deepest !== null; depth++) {
    const { cause, code, message } = deepest as { cause?: unknown; code?: unknown; message?: unknown }
    if (typeof code === "string") return { code, text: message ? describe(message) : code }
    if (cause === undefined) break
    deepest = cause
  }
  return { code: undefined, text: describe(deepest) }
}

/** The error of a request that got no whole response. `sent`: it held a call. */
export const networkError = (url: ShownUrl, error: HttpClientError.HttpClientError, sent: boolean): JobStoreError => {
  const { code, text } = networkFaultOf(error.reason.cause)
  return !sent || (code !== undefined && neverLeft.has(code)) ? unreachable(url, text) : connectionLost(url, text)
}
