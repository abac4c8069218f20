/** What the parts of one proxy share. */
import type { Effect, Fiber } from "effect"
import type { Copy } from "./Copy.ts"
import type { Decision } from "./Decision.ts"
import type { FaultLog } from "./FaultLog.ts"
import type { Target } from "./Kinds.ts"
import type { Outstanding } from "./Outstanding.ts"
import type { Overtaking } from "./Overtaking.ts"
import type { Settings } from "./Settings.ts"
import type { Upstreams } from "./upstream/Upstreams.ts"

/** What was decided about one thing that came. */
export interface Verdict {
  /** Its number. */
  readonly n: number
  readonly decision: Decision | undefined
}

/** See above. */
export interface Workings {
  readonly settings: () => Settings
  readonly log: FaultLog
  /** Gives the next number to what has come, decides about it, and writes down what is decided. */
  readonly judge: (target: Target, connection: number, what: string) => Verdict
  readonly upstreams: Upstreams
  readonly overtaking: { readonly toServer: Overtaking; readonly toClient: Overtaking }
  readonly outstanding: Outstanding
  /** A place for a message that may have to be sent again. */
  readonly copy: () => Copy
  /** Starts an effect that ends with the proxy, at the latest. */
  readonly run: (effect: Effect.Effect<unknown>) => Fiber.Fiber<unknown>
}
