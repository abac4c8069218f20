/**
 * Group commit. A commit costs what it costs, for one unit of work or for a hundred. So units of concurrent callers are
 * gathered until the event loop has handed out what it has, then run in one transaction, and are answered after its
 * commit; what arrives meanwhile is the next group. A caller that is alone waits for nobody.
 */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import { driverFault } from "./SqliteFault.ts"
import type { Transactions } from "./Transactions.ts"

// What one transaction takes at most. Its time is real time: for so long the process does nothing else.
const mostUnits = 1000
const mostMs = 10

interface Unit {
  /** Does the work, and gives what answers the caller once it is committed. */
  readonly perform: () => () => void
  readonly refuse: (error: unknown) => void
  /** The caller went away before its turn. */
  dropped: boolean
}

/** The units of one database that wait for their commit. */
export class GroupCommit {
  readonly #transactions: Transactions
  readonly #toFailure: (error: unknown) => Effect.Effect<never, JobStoreError>
  readonly #closedError: () => JobStoreError
  readonly #waiting: Array<Unit> = []
  #scheduled = false
  #closed = false

  /** `toFailure` says what the caller of a unit that threw is told. */
  constructor(
    transactions: Transactions,
    filename: string,
    toFailure: (error: unknown) => Effect.Effect<never, JobStoreError>
  ) {
    this.#transactions = transactions
    this.#toFailure = toFailure
    this.#closedError = () => driverFault(`the database ${filename} is closed: its layer's scope has ended`, false)
  }

  /** Runs the work in the next transaction. Interruption before its turn drops it; from then on it is carried out. */
  write<A>(work: () => A): Effect.Effect<A, JobStoreError> {
    return Effect.callback<A, JobStoreError>((resume) => {
      if (this.#closed) return resume(Effect.fail(this.#closedError()))
      const unit: Unit = {
        perform: () => {
          const answer = work()
          return () => resume(Effect.succeed(answer))
        },
        refuse: (error) => resume(this.#toFailure(error)),
        dropped: false
      }
      this.#waiting.push(unit)
      this.#schedule()
      return Effect.sync(() => {
        unit.dropped = true
      })
    })
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
    while (this.#waiting.length > 0) this.#commitSome()
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#commitSome()
      this.#schedule()
    })
  }

  // Nobody is answered before the queue is in order again, since an answer may lead to the next call, or the end, at once.
  #commitSome(): void {
    for (const answer of this.#takeGroup()) answer()
  }

  #takeGroup(): ReadonlyArray<() => void> {
    const answers: Array<() => void> = []
    let taken = 0
    try {
      this.#transactions.atomically(() => {
        const until = performance.now() + mostMs
        for (const unit of this.#waiting) {
          taken++
          if (!unit.dropped) answers.push(unit.perform())
          if (taken >= mostUnits || performance.now() >= until) break
        }
      })
      this.#waiting.splice(0, taken)
      return answers
    } catch {
      // One of the units, or the commit, failed. Alone, each shows whether it was the one; the others lose nothing by it.
      const units = this.#waiting.splice(0, Math.max(taken, 1))
      return units.filter((unit) => !unit.dropped).map((unit) => this.#runAlone(unit))
    }
  }

  #runAlone(unit: Unit): () => void {
    try {
      return this.#transactions.atomically(unit.perform)
    } catch (error) {
      return () => unit.refuse(error)
    }
  }
}
