/** Where a request carries its token: the `Authorization` header, or, as browsers can set none, a WebSocket subprotocol. */
import { Wire } from "@jobwire/protocol"
import { Redacted } from "effect"
import type { Headers } from "effect/http"

/** What a request says about itself. `Blank` is a token without content, which is never good. */
export type Presented =
  | { readonly _tag: "None" }
  | { readonly _tag: "Blank" }
  | { readonly _tag: "Unknown"; readonly scheme: string }
  | { readonly _tag: "Token"; readonly token: Redacted.Redacted<string> }

const presented = (token: string): Presented =>
  token.trim() === "" ? { _tag: "Blank" } : { _tag: "Token", token: Redacted.make(token) }

const fromAuthorization = (header: string): Presented => {
  const [scheme = "", ...rest] = header.trim().split(/ +/)
  if (scheme.toLowerCase() === "bearer") return presented(rest.join(" "))
  return header.trim() === "" ? { _tag: "Blank" } : { _tag: "Unknown", scheme: rest.length === 0 ? "" : scheme }
}

/** Reads the credentials of a request. The header goes before the subprotocol. */
export const read = (headers: Headers.Headers): Presented => {
  const { authorization, "sec-websocket-protocol": protocols } = headers
  if (authorization !== undefined) return fromAuthorization(authorization)
  if (protocols === undefined) return { _tag: "None" }
  for (const protocol of protocols.split(",")) {
    const name = protocol.trim()
    if (name.startsWith(Wire.bearerPrefix)) {
      return presented(Buffer.from(name.slice(Wire.bearerPrefix.length), "base64url").toString("utf8"))
    }
  }
  return { _tag: "None" }
}

/** Which of the offered subprotocols to answer with: ours or none, and never one that holds a token. */
export const chooseSubprotocol = (offered: ReadonlySet<string>): string | false =>
  offered.has(Wire.subprotocol) ? Wire.subprotocol : false

/** Names of headers that must not reach logs or spans, on top of those that Effect hides by itself. */
export const secretHeaders: ReadonlyArray<string> = ["sec-websocket-protocol"]
