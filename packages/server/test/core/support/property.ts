/** Properties on random input, whose seed stands in the name of the test. `JOBWIRE_SEED=…` runs the same input again. */
import * as fc from "fast-check"
import { it } from "vitest"

/** The seed of this run. */
export const seed = Number(process.env["JOBWIRE_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

/** Registers a test that a property holds for random input. */
export const property = <A>(
  rule: string,
  input: fc.Arbitrary<A>,
  holds: (input: A) => void | Promise<void>,
  numRuns = 500
): void => {
  it(`${rule} (seed ${seed})`, () =>
    fc.assert(
      fc.asyncProperty(input, async (value) => holds(value)),
      { seed, numRuns }
    ))
}
