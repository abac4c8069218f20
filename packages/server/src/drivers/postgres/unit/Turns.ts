/**
 * Running units over what is loaded, turn by turn. A turn runs them in their order: those before the first that lacks something are
 * kept, that one and all behind it show what they will want, and run again when it is loaded.
 */
import { JobStoreError } from "@jobwire/protocol"
import { Exit } from "effect"
import type { Tables } from "../../embedded/Tables.ts"
import type { UnitTables } from "./UnitTables.ts"

/** A unit of work. */
export interface Work {
  (tables: Tables): unknown
}

/** How a unit ended: its answer, or what it threw. */
export type WorkExit = Exit.Exit<unknown, JobStoreError>

const attempt = (work: Work, tables: Tables): WorkExit => {
  try {
    return Exit.succeed(work(tables))
  } catch (error) {
    return error instanceof JobStoreError ? Exit.fail(error) : Exit.die(error)
  }
}

// Units behind those that take so much are left to another transaction, and those behind so many wishes to another turn.
const mostBytes = 32_000_000
const mostLacks = 5000

/** See the file. */
export class Turns {
  readonly #tables: UnitTables
  readonly #works: ReadonlyArray<Work>
  readonly #exits: Array<WorkExit> = []

  constructor(tables: UnitTables, works: ReadonlyArray<Work>) {
    this.#tables = tables
    this.#works = works
  }

  /** How the units ended that are kept: the first of them, in order. One that threw is among them, and has changed nothing. */
  get exits(): ReadonlyArray<WorkExit> {
    return this.#exits
  }

  /** Runs those that are not kept yet; answers whether it was the last turn: all are kept, or enough for one transaction. */
  next(): boolean {
    const { run } = this.#tables
    const lacksBefore = run.lacks
    let isKept = true
    for (const work of this.#works.slice(this.#exits.length)) {
      if (this.#exits.length > 0 && run.bytes > mostBytes) return true
      if (run.lacks - lacksBefore > mostLacks) return false
      run.begin()
      const exit = attempt(work, this.#tables)
      isKept &&= !run.isVoid
      if (!isKept || Exit.isFailure(exit)) run.takeBack()
      if (!isKept) continue
      this.#tables.keep()
      this.#exits.push(exit)
    }
    return isKept
  }
}
