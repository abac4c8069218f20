/** A bearer token, and how each transport carries it. */
import { invalidArgument, type JobStoreError, Wire } from "@jobwire/protocol"
import { Redacted, Result } from "effect"
import { Base64Url } from "effect/encoding"
import { HttpClientRequest } from "effect/http"

/** The token, or none for a server that asks for none. */
export type Token = Redacted.Redacted | undefined

/** Takes a token as it is given. A blank one is a setting that was left empty by mistake, so it is refused. */
export const parseToken = (given: Redacted.Redacted | string | undefined): Result.Result<Token, JobStoreError> => {
  if (given === undefined) return Result.succeed(undefined)
  const token = Redacted.isRedacted(given) ? given : Redacted.make(given)
  const value = Redacted.value(token)
  if (value === "") {
    return Result.fail(invalidArgument("token", "must not be empty: leave it out for a server that asks for none"))
  }
  return /^[\x21-\x7e]+$/.test(value)
    ? Result.succeed(token)
    : Result.fail(invalidArgument("token", "must be visible ASCII characters without blanks, as HTTP asks for"))
}

/** The request with the token as an `Authorization` header. */
export const authorized = (
  request: HttpClientRequest.HttpClientRequest,
  token: Token
): HttpClientRequest.HttpClientRequest =>
  token === undefined ? request : HttpClientRequest.bearerToken(request, token)

/** The subprotocols to ask for: a browser's socket can set no header, so the token travels as one of them. */
export const subprotocols = (token: Token): Array<string> =>
  token === undefined
    ? [Wire.subprotocol]
    : [Wire.subprotocol, `${Wire.bearerPrefix}${Base64Url.encode(Redacted.value(token))}`]
