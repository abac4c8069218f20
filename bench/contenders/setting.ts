/** The settings of a contender, as its adapter reads them. */
import type { Target } from "./Store.ts"

/** A number among the options; the list of contenders has it. */
export const numberOf = ({ options }: Target, name: string): number => {
  const value = options[name]
  if (typeof value !== "number") throw new Error(`the option ${name} must be a number, and is ${value}`)
  return value
}
