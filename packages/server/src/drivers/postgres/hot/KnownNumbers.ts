/**
 * The numbers of jobs that this server has claimed, by the tokens that hold them: whoever ends or keeps a run here saves the database
 * the way from the id to the row. What is not known costs that way, and what is known stays right: a token that still holds a job in the
 * row of this number holds the job that it was given.
 */

interface Known {
  readonly id: string
  readonly seq: number
}

// Runs may end on other servers, or never, so that some of these are not asked for again.
const mostKnown = 100_000

/** See the file. */
export class KnownNumbers {
  readonly #known = new Map<string, Known>()

  /** Remembers the number of a job that this token holds from now on. */
  learn(store: number, token: string, { id, seq }: Known): void {
    if (this.#known.size >= mostKnown) this.#known.clear()
    this.#known.set(`${store} ${token}`, { id, seq })
  }

  /** The number of the job, if it is known. */
  find(store: number, token: string, id: string): number | undefined {
    const known = this.#known.get(`${store} ${token}`)
    return known?.id === id ? known.seq : undefined
  }

  /** Forgets what a token held, since its run is over. */
  forget(store: number, token: string): void {
    this.#known.delete(`${store} ${token}`)
  }
}
