/** Where a page ends. */

/** The items of a page, and whether more follow. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly more: boolean
}

/** How much a page may hold. */
export interface PageLimits {
  readonly length: number
  readonly bytes: number
}

/** What is left of a page. */
export interface Room {
  /** Whether a row of so many bytes still fits; then it takes its room. The first one always fits, so that every page gets on. */
  readonly takes: (bytes: number) => boolean
}

/** An empty page. */
export const makeRoom = (limits: PageLimits): Room => {
  let length = 0
  let bytes = 0
  return {
    takes: (more) => {
      if (length >= limits.length || (length > 0 && bytes + more > limits.bytes)) return false
      length += 1
      bytes += more
      return true
    }
  }
}

/** Takes from the rows until one does not fit on the page. */
export const takePage = <A>(rows: Iterable<A>, limits: PageLimits, size: (row: A) => number): Page<A> => {
  const room = makeRoom(limits)
  const items: Array<A> = []
  for (const row of rows) {
    if (!room.takes(size(row))) return { items, more: true }
    items.push(row)
  }
  return { items, more: false }
}
