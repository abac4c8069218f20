/** How much the statements that callers share take on. */
import { Context } from "effect"

/** See the file. */
export interface HotSettings {
  /** Without, everything is a unit of work. */
  readonly isOn: boolean
  /** Statements of a kind at once. */
  readonly enqueuesAtOnce: number
  readonly claimsAtOnce: number
  readonly acksAtOnce: number
  /** Jobs by one statement. */
  readonly most: number
}

/** What was measured to be best. */
export const defaults: HotSettings = { isOn: true, enqueuesAtOnce: 2, claimsAtOnce: 1, acksAtOnce: 2, most: 500 }

/** The settings in force where the stores of a database are made; for tests and measurements. */
export const CurrentHotSettings = Context.Reference<HotSettings>("@jobwire/server/postgres/HotSettings", {
  defaultValue: () => defaults
})
