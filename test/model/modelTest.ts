/**
 * The model test: random histories of calls, which a store must answer exactly as the model does, and after which it must hold
 * the same rows.
 *
 * `MODEL_RUNS` says how many histories, `MODEL_SEED` and `MODEL_PATH` run one that failed again, with what its shrinking
 * came to.
 */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { Coverage } from "./coverage/coverage.ts"
import { histories } from "./histories/histories.ts"
import { type Home, run } from "./run.ts"

/** What may differ between drivers. */
export interface Options {
  /** How long a history is at most, in turns; 70 unless given. A turn is about one call. */
  readonly turns?: number
  /** How many histories run at once; 1 unless given. More save time where a call waits for somebody else. */
  readonly atOnce?: number
  /** Which part of the histories is enough where they take long; all unless given. `MODEL_RUNS` asks for more. */
  readonly share?: number
}

const usualRuns = 1000

const given = (name: string): number | undefined => {
  const text = process.env[name]
  return text === undefined ? undefined : Number(text)
}

const seed = given("MODEL_SEED") ?? Math.floor(Math.random() * 2 ** 31)
const path = process.env["MODEL_PATH"]
const numRuns = given("MODEL_RUNS") ?? usualRuns

// Shrinking takes some hundred histories, on whatever machine. It is broken off in time to say what it has come to.
const longest = 600_000 * Math.max(1, numRuns / usualRuns)
const timely = { interruptAfterTimeLimit: longest - 60_000, markInterruptAsFailure: true }

const report = <A>(details: fc.RunDetails<A>): string => {
  const again = `MODEL_SEED=${details.seed} MODEL_PATH=${details.counterexamplePath ?? ""}`
  if (details.counterexample === null) return `only ${details.numRuns} histories have run in ${longest / 1000} s`
  const error = details.errorInstance
  return [
    `history ${details.numRuns}, shrunk ${details.numShrinks} times:`,
    error instanceof Error ? error.message : String(error),
    `To run it again: ${again}`
  ].join("\n")
}

/** Registers the test for stores that `home` gives, each new and empty. */
export const modelTest = (name: string, home: Home, { atOnce = 1, share = 1, turns = 70 }: Options = {}): void => {
  const runs = Math.ceil(numRuns * share)
  describe(`histories: ${name}`, () => {
    it(`are answered as by the model (MODEL_SEED=${seed})`, { timeout: longest }, async () => {
      const coverage = new Coverage()
      const property = fc.asyncProperty(histories(turns), (history) =>
        run(home, history, coverage).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.runPromise)
      )
      const strands = path === undefined ? atOnce : 1
      const parameters = { ...timely, numRuns: Math.ceil(runs / strands), ...(path === undefined ? {} : { path }) }
      const all = await Promise.all(
        Array.from({ length: strands }, (_, strand) => fc.check(property, { ...parameters, seed: seed + strand }))
      )
      const failed = all.find((details) => details.failed)
      if (failed !== undefined) assert.fail(report(failed))
      if (path === undefined && runs >= usualRuns) coverage.check()
    })
  })
}
