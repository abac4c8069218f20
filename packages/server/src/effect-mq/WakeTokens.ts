/**
 * effect-mq's wake tokens are numbers that mean something to one instance of a driver. Ours say which instance, so that the
 * token of another process, or of this one before a restart, is recognised and resolves at once.
 */
import type { WakeToken } from "@jobwire/protocol"

/** The tokens of one driver instance. */
export interface WakeTokens {
  readonly toToken: (wakeNumber: number) => WakeToken
  /** The number in a token of this instance; `undefined` for any other string. */
  readonly toNumber: (token: WakeToken) => number | undefined
}

/** Tokens with an origin of their own. */
export const makeWakeTokens = (origin: string): WakeTokens => {
  const prefix = `${origin}.`
  return {
    toToken: (wakeNumber) => `${prefix}${wakeNumber}`,
    toNumber: (token) => {
      const digits = token.startsWith(prefix) ? token.slice(prefix.length) : ""
      return /^\d+$/.test(digits) ? Number(digits) : undefined
    }
  }
}
