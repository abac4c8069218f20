/** What this server has told the others of its waiters, and what it should tell them now. */
import { type LaneKey, textOf } from "./LaneKey.ts"

/** So many wait for this. */
export interface Count {
  readonly key: LaneKey
  readonly waiters: number
}

/** See the file. `count` says how many wait at the moment. */
export class Presence {
  readonly #count: (key: LaneKey) => number
  readonly #told = new Map<string, Count>()
  readonly #changed = new Map<string, LaneKey>()
  readonly #called = new Set<string>()

  constructor(count: (key: LaneKey) => number) {
    this.#count = count
  }

  /** Waiters for this have come or gone. */
  changed(key: LaneKey): void {
    this.#changed.set(textOf(key), key)
  }

  /** Others have called waiters for this, and count them as woken. */
  called(key: LaneKey): void {
    this.changed(key)
    this.#called.add(textOf(key))
  }

  /**
   * What the others should know by now: where waiting began or ended, where they would draw this server far too often or too rarely,
   * and where they have called some. Counts as told.
   */
  changes(): ReadonlyArray<Count> {
    const changes: Array<Count> = []
    for (const [text, key] of this.#changed) {
      const waiters = this.#count(key)
      const told = this.#told.get(text)?.waiters ?? 0
      if (isFar(told, waiters) || this.#called.has(text)) {
        changes.push({ key, waiters })
        if (waiters === 0) this.#told.delete(text)
        else this.#told.set(text, { key, waiters })
      }
    }
    this.#changed.clear()
    this.#called.clear()
    return changes
  }

  /** Whatever the others know may be wrong: it is to be told again, and so is what is waited for. */
  retell(keys: Iterable<LaneKey>): void {
    for (const { key } of this.#told.values()) this.called(key)
    for (const key of keys) this.called(key)
  }

  /** There is nobody to tell. What changes meanwhile, {@link retell} brings up again. */
  skip(): void {
    this.#changed.clear()
    this.#called.clear()
  }
}

const isFar = (told: number, waiters: number): boolean =>
  told !== waiters && (told === 0 || waiters === 0 || waiters >= 2 * told || 2 * waiters <= told)
