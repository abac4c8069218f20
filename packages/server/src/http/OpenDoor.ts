/**
 * What a server without tokens demands of a request. It has nothing to tell callers apart by but that they are on its own
 * machine. A browser there runs pages of anybody, so a request that a page could have made is refused: a foreign `Origin`,
 * and a `Host` that is not this machine (a name of the page's owner that was pointed here).
 */
import { Option } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { isLoopbackAddress, isLoopbackHost } from "./Loopback.ts"
import * as Problem from "./Problem.ts"

const advice = "Start the server with a token to let others in."

const parse = (url: string): URL | undefined => (URL.canParse(url) ? new URL(url) : undefined)

/** The problem to refuse the request with, or `undefined` when it may come in. */
export const refuse = (
  request: HttpServerRequest.HttpServerRequest
): HttpServerResponse.HttpServerResponse | undefined => {
  const peer = Option.getOrUndefined(request.remoteAddress)
  if (peer === undefined || !isLoopbackAddress(peer)) {
    return Problem.forbidden(`This server has no tokens and serves its own machine only. ${advice}`)
  }
  const { host, origin } = request.headers
  const own = host === undefined ? undefined : parse(`http://${host}`)
  if (own === undefined || !isLoopbackHost(own.hostname)) {
    return Problem.forbidden(
      `This server has no tokens and is called by the names localhost, 127.0.0.1 and [::1] only. ${advice}`
    )
  }
  if (origin !== undefined && parse(origin)?.host !== own.host) {
    return Problem.forbidden(`This server has no tokens and takes nothing from pages of other origins. ${advice}`)
  }
  return undefined
}
