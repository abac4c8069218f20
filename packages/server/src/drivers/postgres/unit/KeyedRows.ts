/** Rows that are found by their key alone, as far as they are loaded, and as units have left them. */
import type { Run } from "./Run.ts"

/** A row as the database has it and as units have left it. */
interface Cell<Key, Row> {
  readonly key: Key
  /** Whether `stored` is what the database has; what is written without a look is not known. */
  isKnown: boolean
  stored: Row | undefined
  current: Row | undefined
}

/** What units have changed. */
export interface KeyedChanges<Key, Row> {
  readonly put: ReadonlyArray<Row>
  readonly deleted: ReadonlyArray<Key>
}

/** See the file. */
export class KeyedRows<Key, Row> {
  readonly #run: Run
  readonly #textOf: (key: Key) => string
  readonly #cells = new Map<string, Cell<Key, Row>>()
  readonly #lacking = new Map<string, Key>()

  /** `textOf` gives each key a text of its own. */
  constructor(run: Run, textOf: (key: Key) => string) {
    this.#run = run
    this.#textOf = textOf
  }

  get(key: Key): Row | undefined {
    const text = this.#textOf(key)
    const cell = this.#cells.get(text)
    if (cell !== undefined) return cell.current
    this.#run.lack()
    this.#lacking.set(text, key)
    return undefined
  }

  /** Puts a row under the key, or deletes it. */
  set(key: Key, row: Row | undefined): void {
    const text = this.#textOf(key)
    const found = this.#cells.get(text)
    const cell = found ?? { key, isKnown: false, stored: undefined, current: undefined }
    const before = cell.current
    if (found === undefined) this.#cells.set(text, cell)
    cell.current = row
    this.#run.changed(() => {
      cell.current = before
      if (found === undefined) this.#cells.delete(text)
    })
  }

  /** The keys that were asked for and are not loaded; asked once, they are no longer lacking. */
  takeLacking(): ReadonlyArray<Key> {
    const keys = Array.from(this.#lacking.values())
    this.#lacking.clear()
    return keys
  }

  /** Says what the database has under these keys; a key without a row has none. */
  receive(keys: ReadonlyArray<Key>, rows: ReadonlyArray<readonly [Key, Row]>): void {
    for (const key of keys) this.#receive(key, undefined)
    for (const [key, row] of rows) this.#receive(key, row)
  }

  changes(): KeyedChanges<Key, Row> {
    const put: Array<Row> = []
    const deleted: Array<Key> = []
    for (const { current, isKnown, key, stored } of this.#cells.values()) {
      if (isKnown && stored === current) continue
      if (current === undefined) deleted.push(key)
      else put.push(current)
    }
    return { put, deleted }
  }

  #receive(key: Key, row: Row | undefined): void {
    this.#cells.set(this.#textOf(key), { key, isKnown: true, stored: row, current: row })
  }
}
