/** A workload: what is done to a contender, and which figures come of it. */
import type { Ability } from "../contenders/Contender.ts"
import type { Session } from "../contenders/Session.ts"
import type { Place } from "../contenders/Store.ts"
import type { Scale } from "./Scale.ts"

/** A figure. Its name is the workload's, or that with `@` and the size it was measured at, such as `enqueue@16`. */
export interface Figure {
  readonly name: string
  readonly value: number
}

/** What a workload is. */
export interface Workload {
  /** As in `--workload`. */
  readonly name: string
  /** What a contender must be able to do. */
  readonly needs?: Ability
  /**
   * Workloads of one group are measured one after the other on the same ground, in their order; each leaves no job behind. Those
   * without a group have their own.
   */
  readonly group?: string
  /** Long ones are measured in one round only, unless rounds are asked for. */
  readonly long?: boolean
  /** The places that its jobs go to, beside {@link place}. */
  readonly places?: (scale: Scale) => ReadonlyArray<Place>
  readonly run: (session: Session, scale: Scale) => Promise<ReadonlyArray<Figure>>
}

/** Where the jobs of most workloads go. */
export const place: Place = { queue: "bench", name: "job" }
