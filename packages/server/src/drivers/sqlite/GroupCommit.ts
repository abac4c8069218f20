/**
 * Group commit. A commit costs what it costs, for one unit of work or for a hundred. So units of concurrent callers are
 * gathered until the event loop has handed out what it has, then run in one transaction, and are answered after its
 * commit; what arrives meanwhile is the next group. A caller that is alone waits for nobody.
 */
import type { JobStoreError } from "@jobwire/protocol"
import { Array as Arr, Effect, Exit } from "effect"
import { Batcher } from "../batch/Batcher.ts"
import { driverFault } from "./SqliteFault.ts"
import type { Transactions } from "./Transactions.ts"

// What one transaction takes at most. Its time is real time: for so long the process does nothing else.
const mostUnits = 1000
const mostMs = 10

interface Unit {
  (): unknown
}

type Answer = Exit.Exit<unknown, JobStoreError>

/** The units of one database that wait for their commit. */
export class GroupCommit {
  readonly #transactions: Transactions
  readonly #toFailure: (error: unknown) => Exit.Exit<never, JobStoreError>
  readonly #closedError: () => JobStoreError
  readonly #units: Batcher<Unit, unknown, JobStoreError>
  #closed = false

  /** `toFailure` says what the caller of a unit that threw is told. */
  constructor(
    transactions: Transactions,
    filename: string,
    toFailure: (error: unknown) => Exit.Exit<never, JobStoreError>
  ) {
    this.#transactions = transactions
    this.#toFailure = toFailure
    this.#closedError = () => driverFault(`the database ${filename} is closed: its layer's scope has ended`, false)
    this.#units = new Batcher({
      atOnce: 1,
      mostWeight: mostUnits,
      soon: setImmediate,
      run: (batch, end) => end(this.#commitSome(batch)),
      refusal: this.#closedError
    })
  }

  /** Runs the work in the next transaction. Interruption before its turn drops it; from then on it is carried out. */
  write<A>(work: () => A): Effect.Effect<A, JobStoreError> {
    // The answer to a unit is what it gave.
    return this.#units.submit(work) as Effect.Effect<A, JobStoreError>
  }

  /** Runs the work at once, outside any transaction: it sees what was committed. */
  read<A>(work: () => A): Effect.Effect<A, JobStoreError> {
    return Effect.suspend(() => {
      if (this.#closed) return Effect.fail(this.#closedError())
      try {
        return Effect.succeed(work())
      } catch (error) {
        return this.#toFailure(error)
      }
    })
  }

  /** Runs what waits, and refuses what comes later. */
  close(): void {
    this.#closed = true
    this.#units.close()
  }

  #commitSome(batch: Iterable<Unit>): ReadonlyArray<Answer> {
    const units: Array<Unit> = []
    try {
      return this.#transactions.atomically(() => {
        const answers: Array<Answer> = []
        const until = performance.now() + mostMs
        for (const unit of batch) {
          units.push(unit)
          answers.push(Exit.succeed(unit()))
          if (performance.now() >= until) break
        }
        return answers
      })
    } catch {
      // One of the units, or the commit, failed. Alone, each shows whether it was the one; the others lose nothing by it.
      if (units.length === 0) units.push(...Arr.take(batch, 1))
      return units.map((unit) => this.#runAlone(unit))
    }
  }

  #runAlone(unit: Unit): Answer {
    try {
      return Exit.succeed(this.#transactions.atomically(unit))
    } catch (error) {
      return this.#toFailure(error)
    }
  }
}
