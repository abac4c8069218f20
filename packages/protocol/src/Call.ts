/**
 * The key of a logical call: a caller draws one, sends it with every try of the call, and whatever arrives once or many times under it
 * is carried out once and answered alike. A call without a key is what it always was.
 */
import { Context } from "effect"

/** The header of a message that carries the key. */
export const header = "call"

/** How long a key may be, in characters. */
export const longestKey = 64

const pattern = /^[\w-]{1,64}$/

/** Whether a text may be a key: letters, digits, `-` and `_`, and no longer than {@link longestKey}. */
export const isKey = (text: string): boolean => pattern.test(text)

/** The key of the call that runs in this fiber; absent when its caller gave none. */
export const CurrentCall = Context.Reference<string | undefined>("@jobwire/protocol/CurrentCall", {
  defaultValue: () => undefined
})

/** Draws a key: a version 7 UUID, so that keys of one moment lie close together in an index. */
export const drawKey = (): string => {
  const time = Date.now().toString(16).padStart(12, "0")
  const random = crypto.randomUUID()
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`
}
