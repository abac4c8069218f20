/** effect-mq's wake tokens are numbers and ours are strings: this keeps which number stands for which string. */
import type { WakeToken } from "@jobwire/protocol"

/** The numbers of one adapter. */
export interface WakeNumbers {
  /** A number for a token: larger than all before, so that a later claim has the larger number. */
  readonly toNumber: (token: WakeToken) => number
  /** The token behind a number, or `undefined` for a number that is unknown or was forgotten. */
  readonly toToken: (wakeNumber: number) => WakeToken | undefined
}

/**
 * How many numbers are remembered. A taker waits right after its claim, so a number is used at once or never; whoever
 * keeps one for longer is woken once more than needed.
 */
const defaultCapacity = 4096

/** An empty map that forgets its oldest number when it holds `capacity`. */
export const makeWakeNumbers = (capacity: number = defaultCapacity): WakeNumbers => {
  const tokens = new Map<number, WakeToken>()
  let latest = 0
  return {
    toNumber: (token) => {
      latest += 1
      tokens.set(latest, token)
      tokens.delete(latest - capacity)
      return latest
    },
    toToken: (wakeNumber) => tokens.get(wakeNumber)
  }
}
