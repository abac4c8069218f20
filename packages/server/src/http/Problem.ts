/** Refusals at the door as RFC 9457 problem documents. Each says what was wrong and what to do, and never repeats a secret. */
import { Wire } from "@jobwire/protocol"
import { type HttpServerResponse, HttpServerResponse as Response, ProblemDetails } from "effect/http"

const titles = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  426: "Upgrade Required",
  503: "Service Unavailable"
} as const

const problem = (
  status: keyof typeof titles,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
  extensions: Readonly<Record<string, unknown>> = {}
): HttpServerResponse.HttpServerResponse =>
  Response.setHeaders(
    ProblemDetails.toResponse({ type: ProblemDetails.blankType, status, title: titles[status], detail, ...extensions }),
    { "cache-control": "no-store", ...headers }
  )

/** The request cannot be understood. */
export const badRequest = (detail: string) => problem(400, detail)

/** No credentials, or none that the server knows. */
export const unauthorized = (detail: string) => problem(401, detail, { "www-authenticate": 'Bearer realm="jobwire"' })

/** The server does not talk to this caller, whatever the credentials. */
export const forbidden = (detail: string) => problem(403, detail)

/** There is nothing at this path. */
export const notFound = (path: string) =>
  problem(
    404,
    `There is nothing at ${path}. The calls are at ${Wire.callPath}, the health checks at /livez and /readyz.`
  )

/** The path takes other methods. */
export const methodNotAllowed = (method: string, allow: string) =>
  problem(405, `This path does not take ${method}; it takes ${allow}.`, { allow })

/** The body is over the limit, in bytes. */
export const contentTooLarge = (limit: number) =>
  problem(413, `The body is over the limit of ${limit} bytes. Send smaller batches or payloads.`, {}, { limit })

/** The body is not of the kind that the path takes. */
export const unsupportedMediaType = (detail: string) => problem(415, detail, { accept: "application/json" })

/** The path was asked for without an upgrade to WebSocket. The credentials were good. */
export const upgradeRequired = () =>
  problem(426, "This path takes calls by POST, or by GET upgraded to a WebSocket.", {
    upgrade: "websocket",
    connection: "upgrade"
  })

/** The server is stopping, or its store does not answer. */
export const unavailable = (detail: string, retryAfterSeconds: number) =>
  problem(503, detail, { "retry-after": String(retryAfterSeconds) })
