/**
 * The errors that a remote store adds to those of the store behind it: what happened, on which server, and whether making
 * the call again can help. No message holds a token.
 */
import { JobStoreError } from "@jobwire/protocol"

/** Of a URL: no query and no credentials are in it. */
export type ShownUrl = string

const mayBeDone = "the call may have been carried out; it can be made again where a second delivery does no harm"
const notSent = "the call was not carried out and can be made again"

/** The server cannot be reached; the call never left. `why` reads on after a colon. */
export const unreachable = (url: ShownUrl, why: string): JobStoreError =>
  new JobStoreError({
    message: `cannot reach ${url}: ${why}; ${notSent}`,
    reason: { _tag: "Unavailable", url, sent: false }
  })

/** The connection ended between the call and its answer. */
export const connectionLost = (url: ShownUrl, why: string): JobStoreError =>
  new JobStoreError({
    message: `lost the connection to ${url} before the answer came: ${why}; ${mayBeDone}`,
    reason: { _tag: "Unavailable", url, sent: true }
  })

/** A server, or a proxy before it, that does not take calls now. `sent` when the call may have got through. */
export const turnedAway = (url: ShownUrl, sent: boolean, why: string): JobStoreError =>
  new JobStoreError({
    message: `${url} is not available: ${why}; ${sent ? mayBeDone : notSent}`,
    reason: { _tag: "Unavailable", url, sent }
  })

/** The layer of this store has been closed. */
export const storeClosed = (url: ShownUrl, sent: boolean): JobStoreError =>
  new JobStoreError({
    message:
      `the remote store of ${url} was closed with the scope that it was built in; ` +
      (sent ? "the call may have been carried out" : "make calls while its layer is in use"),
    reason: { _tag: "Unavailable", url, sent }
  })

/** No answer within the deadline. */
export const noAnswer = (url: ShownUrl, afterMs: number): JobStoreError =>
  new JobStoreError({
    message: `no answer from ${url} within ${afterMs} ms; ${mayBeDone}`,
    reason: { _tag: "DeadlineExceeded", url, afterMs }
  })

/** The server does not know the caller. */
export const unauthorized = (url: ShownUrl, detail: string): JobStoreError =>
  new JobStoreError({
    message: `${url} did not accept the credentials (401)${detail}; check the token of this store`,
    reason: { _tag: "Unauthorized" }
  })

/** The server knows the caller, and does not let it do this. */
export const forbidden = (url: ShownUrl, detail: string): JobStoreError =>
  new JobStoreError({
    message: `${url} does not allow this to the caller (403)${detail}; ask for a token that may, or for another store`,
    reason: { _tag: "Forbidden", scope: undefined }
  })

/** A message that the server, or a proxy before it, does not take for its length. */
export const tooLarge = (url: ShownUrl, size: number, limit: unknown): JobStoreError => {
  const known = typeof limit === "number" ? limit : 0
  const most = known === 0 ? "" : `, and takes at most ${known}`
  return new JobStoreError({
    message: `${url} did not take a message of ${size} bytes (413)${most}; the call was not carried out`,
    reason: { _tag: "LimitExceeded", field: "message", size, limit: known }
  })
}

/** A program's fault on either side, or something that is no Jobwire server. Making the call again will not help. */
export const broken = (url: ShownUrl, what: string): JobStoreError =>
  new JobStoreError({ message: `${url} ${what}`, reason: { _tag: "Defect" } })

/** What an unknown thrown value says about itself, in one line that is not too long. */
export const describe = (thrown: unknown): string => {
  const text =
    thrown instanceof Error ? thrown.message || thrown.name : typeof thrown === "string" ? thrown : inspect(thrown)
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}

const inspect = (thrown: unknown): string => {
  try {
    return JSON.stringify(thrown) ?? String(thrown)
  } catch {
    return Object.prototype.toString.call(thrown)
  }
}
