/**
 * Lazy walks over rows. A walk reads one chunk after another, each by a statement that has ended when its rows are handed
 * out, from behind the last row of the chunk before. So rows may be written between two steps, and a walk that is given
 * up leaves nothing open.
 */

const mostRows = 1024

/** Walks over what `read` gives, from behind `after`, at most `limit` rows at a time; the first chunk is the smallest. */
export function* inChunks<Row>(
  read: (after: Row | undefined, limit: number) => ReadonlyArray<Row>,
  firstLimit = 64
): Generator<Row, void> {
  let after: Row | undefined
  let limit = firstLimit
  for (;;) {
    const rows = read(after, limit)
    yield* rows
    if (rows.length < limit) return
    after = rows.at(-1)
    limit = Math.min(limit * 2, mostRows)
  }
}
