/**
 * One run of a unit over what is loaded. A table that is asked for something that is not loaded notes it and answers as if there
 * were nothing, so that one run shows as much as possible of what its unit will want; such a run is void. What a run has changed can
 * be taken back, so that a void run, or one that failed, leaves no trace.
 */

/** See the file. The tables of a transaction share one. */
export class Run {
  readonly #undo: Array<() => void> = []
  #isVoid = false

  /** Whether something was lacking: neither the answer nor the changes of this run mean anything. */
  get isVoid(): boolean {
    return this.#isVoid
  }

  /** Begins the next run. */
  begin(): void {
    this.#undo.length = 0
    this.#isVoid = false
  }

  /** Says that something is not loaded. */
  lack(): void {
    this.#isVoid = true
  }

  /** Says how to take back a change. */
  changed(undo: () => void): void {
    this.#undo.push(undo)
  }

  /** Takes back all changes of this run, the last one first. */
  takeBack(): void {
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) undo()
  }
}
