/** The numbers that `seq` and `place` are drawn from: one sequence for the whole database, in the order of the units that take them. */
import type { Load } from "./Load.ts"
import type { Run } from "./Run.ts"

/** Numbers drawn in one transaction. Those that nobody takes are lost, which leaves gaps and no disorder. */
export class Numbers {
  readonly #run: Run
  readonly #drawn: Array<number> = []
  /** How many of them kept runs have taken. */
  #taken = 0
  /** How many this turn has asked for, void runs included. */
  #asked = 0

  constructor(run: Run) {
    this.#run = run
  }

  next(): number {
    const number = this.#drawn[this.#asked++]
    if (number !== undefined) return number
    this.#run.lack()
    return 0
  }

  /** Says that the run is kept. In a turn, kept runs come before all others. */
  keep(): void {
    this.#taken = this.#asked
  }

  /** What this turn has lacked; the next one begins with what no kept run has taken. */
  loads(): ReadonlyArray<Load> {
    const lacking = this.#asked - this.#drawn.length
    this.#asked = this.#taken
    if (lacking <= 0) return []
    return [
      {
        sql: "select nextval('number')::float8 from generate_series(1, $2::int4) where $1::int4 is not null",
        parameters: [lacking],
        receive: (rows) => {
          for (const [number] of rows) this.#drawn.push(Number(number))
        }
      }
    ]
  }
}
