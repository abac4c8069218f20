/** Whole numbers in a range. */
import { Flag } from "effect/cli"

/** A flag that takes a whole number from `least` to `most`. */
export const wholeFlag = (name: string, least: number, most: number): Flag.Flag<number> =>
  Flag.Int(name).pipe(
    Flag.withMetavar("number"),
    Flag.filter(
      (value) => value >= least && value <= most,
      (value) => `Expected a whole number from ${least} to ${most}, and it is ${value}`
    )
  )
