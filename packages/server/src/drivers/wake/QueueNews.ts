/** What happened in one queue, for tokens that come later. */

// A producer may invent names without end; beyond this many, what happened to each is told as having happened to all.
const mostNames = 1000

/** The latest events of one queue, numbered by a counter of the process. */
export class QueueNews {
  readonly #latestByName = new Map<string, number>()
  /** The version of the latest event of any kind. */
  #latest = 0
  /** Tokens older than this have missed something, whatever they had asked for. */
  #floor = 0

  /** Whether something happened for these names after the version; without names, whether anything did. */
  isAfter(version: number, names: ReadonlyArray<string> | undefined): boolean {
    if (version < this.#floor) return true
    if (names === undefined) return version < this.#latest
    return names.some((name) => version < (this.#latestByName.get(name) ?? 0))
  }

  /** Remembers that a job of this name, or without a name every job, became claimable. */
  remember(name: string | undefined, version: number): void {
    this.#latest = version
    if (name === undefined || (this.#latestByName.size >= mostNames && !this.#latestByName.has(name))) {
      this.#floor = version
      this.#latestByName.clear()
    } else {
      this.#latestByName.set(name, version)
    }
  }
}
