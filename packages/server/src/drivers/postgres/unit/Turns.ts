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

/** See the file. */
export class Turns {
  readonly #tables: UnitTables
  readonly #works: ReadonlyArray<Work>
  readonly #exits: Array<WorkExit> = []

  constructor(tables: UnitTables, works: ReadonlyArray<Work>) {
    this.#tables = tables
    this.#works = works
  }

  /** How the units ended that are kept, in their order. A unit that threw is among them, and has changed nothing. */
  get exits(): ReadonlyArray<WorkExit> {
    return this.#exits
  }

  /** Runs those that are not kept yet; answers whether all are kept now. */
  next(): boolean {
    const { run } = this.#tables
    let isKept = true
    for (const work of this.#works.slice(this.#exits.length)) {
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
