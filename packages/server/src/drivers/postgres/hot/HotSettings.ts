/** How much the statements that callers share take on. */
export interface HotSettings {
  /** Statements of each kind at once. */
  readonly enqueuesAtOnce: number
  readonly claimsAtOnce: number
  readonly acksAtOnce: number
  /** Jobs by one statement. */
  readonly most: number
}

export const defaults: HotSettings = { enqueuesAtOnce: 2, claimsAtOnce: 2, acksAtOnce: 2, most: 500 }
