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

/**
 * Takes from the rows until the page has its length, or the next row would make it pass its bytes. The first row is taken
 * whatever its size, so that every page gets on.
 */
export const takePage = <A>(rows: Iterable<A>, limits: PageLimits, size: (row: A) => number): Page<A> => {
  const items: Array<A> = []
  let bytes = 0
  for (const row of rows) {
    bytes += size(row)
    if (items.length >= limits.length || (items.length > 0 && bytes > limits.bytes)) return { items, more: true }
    items.push(row)
  }
  return { items, more: false }
}
