/** What is made of the key of a call: the ids of the jobs that it enqueues without an id, and by what it is known again. */
import type { EnqueueRequest } from "@jobwire/protocol"
import { hash } from "node:crypto"

const uuid7 = /^([0-9a-f]{8}-[0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The digest of the arguments of a call. */
export const bodyOf = (args: ReadonlyArray<unknown>): string =>
  hash("sha256", JSON.stringify(args), "base64url").slice(0, 22)

/** What a call and the position of a request in it are remembered by. */
export const itemOf = (call: string, position: number): string => `${call}.${position}`

/**
 * The id of the job that is made for an item: a version 7 UUID of the time in the key, where it has one, and of the position, so that
 * the ids of one call grow with it; the rest is a digest of both.
 */
export const idOf = (call: string, position: number): string => {
  const digest = hash("sha256", itemOf(call, position), "hex")
  const time = uuid7.exec(call)?.[1] ?? `${digest.slice(48, 56)}-${digest.slice(56, 60)}`
  const within = (position & 0xfff).toString(16).padStart(3, "0")
  return `${time}-7${within}-8${digest.slice(0, 3)}-${digest.slice(3, 15)}`
}

/**
 * By what a job remembers the item that made it: where its id was made of the item a digest of the request is enough, to tell another
 * request under the same key.
 */
export const memoOf = (item: string, request: EnqueueRequest): string =>
  request.id === undefined ? bodyOf([request]) : `${item} ${bodyOf([request])}`

/** Whether a job, or what is left of one, was made for the item, by whichever request. */
export const isMemoOf = (memo: string | undefined, item: string, request: EnqueueRequest): boolean =>
  memo !== undefined && (request.id === undefined || memo.startsWith(`${item} `))
