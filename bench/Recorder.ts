/** Takes down what a run tells: on the screen as it goes, and as results. */
import { figureText } from "./report/format.ts"
import { addRun, addTrouble, addValue, dropEmptyRuns, forgetTrouble, type Results } from "./report/Results.ts"
import type { Events } from "./run.ts"
import type { Figure } from "./workloads/Workload.ts"

/** Keeps the results of one run. */
export class Recorder implements Events {
  readonly #run: string
  readonly #machine: string
  readonly #rounds: number
  readonly #changed: (results: Results) => void
  readonly #services = new Set<string>()
  #results: Results

  /** `changed` hears of the results so far whenever there are more. */
  constructor(earlier: Results, machine: string, rounds: number, changed: (results: Results) => void) {
    this.#run = new Date().toISOString()
    this.#machine = machine
    this.#rounds = rounds
    this.#changed = changed
    this.#results = earlier
  }

  /** All that is known by now. */
  get results(): Results {
    const run = { machine: this.#machine, services: [...this.#services].toSorted(), rounds: this.#rounds }
    return dropEmptyRuns(addRun(this.#results, this.#run, run))
  }

  readonly service = (service: string): void => {
    this.#services.add(service)
  }

  readonly figures = (who: string, what: string, figures: ReadonlyArray<Figure>, seconds: number): void => {
    const texts = figures.map(({ name, value }) => `${name} ${figureText(name, [value])}`)
    console.log(`${who.padEnd(28)} ${texts.join("  ")}  (${seconds.toFixed(1)} s)`)
    this.#results = forgetTrouble(this.#results, this.#run, who, what)
    for (const { name, value } of figures) this.#results = addValue(this.#results, this.#run, who, name, value)
    this.#changed(this.results)
  }

  readonly trouble = (who: string, what: string, message: string): void => {
    console.log(`${who.padEnd(28)} ${what} ${message}`)
    this.#results = addTrouble(this.#results, this.#run, who, what, message)
    this.#changed(this.results)
  }
}
