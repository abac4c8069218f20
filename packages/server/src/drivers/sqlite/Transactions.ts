/** All or nothing: SQLite's transaction, and beside it what of the stores is kept in memory. */
import type { DatabaseSync } from "node:sqlite"
import { prepare, type Statement } from "./Statement.ts"
import type { StoreState } from "./StoreState.ts"

/** The transactions of one database, one at a time. */
export class Transactions {
  /** The states of stores that the open transaction has changed. */
  readonly changed = new Set<StoreState>()
  readonly #db: DatabaseSync
  readonly #begin: Statement
  readonly #commit: Statement

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#begin = prepare(db, "begin immediate")
    this.#commit = prepare(db, "commit")
  }

  /** Runs the body and commits; when anything throws, nothing of it is kept, and the error goes on. */
  atomically<A>(body: () => A): A {
    this.#begin.run()
    try {
      const answer = body()
      for (const state of this.changed) state.save()
      this.#commit.run()
      this.changed.clear()
      return answer
    } catch (error) {
      for (const state of this.changed) state.forget()
      this.changed.clear()
      // Some errors, as a full disk, have ended the transaction already.
      if (this.#db.isTransaction) this.#db.exec("rollback")
      throw error
    }
  }
}
