/** Lists that are read as they are, for units that only read: what a statement gives stays the same throughout their transaction. */
import type { Row } from "../Connections.ts"
import type { Load, Mode } from "./Load.ts"
import type { Run } from "./Run.ts"

interface Question {
  readonly sql: string
  readonly parameters: ReadonlyArray<unknown>
}

/** Answers of the database by question. */
export class Asked {
  readonly #run: Run
  readonly #mode: Mode
  readonly #answers = new Map<string, ReadonlyArray<Row>>()
  readonly #open = new Map<string, Question>()

  constructor(run: Run, mode: Mode) {
    this.#run = run
    this.#mode = mode
  }

  /** What the statement gives for the store and these parameters; nothing as long as it was not asked. */
  rows(sql: string, parameters: ReadonlyArray<unknown>): ReadonlyArray<Row> {
    if (this.#mode === "write")
      throw new Error("lists are for units that only read: they do not show what others have changed")
    const text = JSON.stringify([sql, parameters])
    const found = this.#answers.get(text)
    if (found !== undefined) return found
    this.#run.lack()
    this.#open.set(text, { sql, parameters })
    return []
  }

  loads(): ReadonlyArray<Load> {
    const loads = Array.from(this.#open, ([text, { parameters, sql }]) => ({
      sql,
      parameters,
      receive: (rows: ReadonlyArray<Row>) => void this.#answers.set(text, rows)
    }))
    this.#open.clear()
    return loads
  }
}
