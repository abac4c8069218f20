/**
 * One run of a unit over what is loaded. A table that is asked for something that is not loaded notes it and answers as if there
 * were nothing, so that one run shows as much as possible of what its unit will want; such a run is void. What a run has changed can
 * be taken back, so that a void run, or one that failed, leaves no trace.
 */

// What a row takes beside its values, roughly.
const rowBytes = 1000

/** See the file. The tables of a transaction share one. */
export class Run {
  readonly #undo: Array<() => void> = []
  #isVoid = false
  #lacks = 0
  #bytes = 0

  /** Whether something was lacking: neither the answer nor the changes of this run mean anything. */
  get isVoid(): boolean {
    return this.#isVoid
  }

  /** How often something was lacking in all runs so far. */
  get lacks(): number {
    return this.#lacks
  }

  /** About how much memory all that is loaded and made takes, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** Begins the next run. */
  begin(): void {
    this.#undo.length = 0
    this.#isVoid = false
  }

  /** Says that something is not loaded. */
  lack(): void {
    this.#isVoid = true
    this.#lacks++
  }

  /** Says how to take back a change. */
  changed(undo: () => void): void {
    this.#undo.push(undo)
  }

  /** Says that a row was loaded, with so many bytes of text. */
  loaded(bytes: number): void {
    this.#bytes += rowBytes + bytes
  }

  /** Says that a row was made, with so many bytes of text. */
  made(bytes: number): void {
    this.loaded(bytes)
    this.changed(() => {
      this.#bytes -= rowBytes + bytes
    })
  }

  /** Takes back all changes of this run, the last one first. */
  takeBack(): void {
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) undo()
  }
}
