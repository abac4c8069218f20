/** Several ordered walks as one. */

/** An ordered walk, and what is known of its first item before it is read. */
export interface Run<Item> {
  /** Not behind any item of the walk. The walk is not begun before its turn by this has come. */
  readonly bound: Item
  readonly items: () => Iterator<Item>
}

interface Head<Item> {
  item: Item
  /** Absent until the walk has begun. */
  iterator: Iterator<Item> | undefined
  readonly run: Run<Item>
}

/** All items of the runs in the order of `compare`, each run read no further than needed. */
export function* merge<Item>(
  runs: ReadonlyArray<Run<Item>>,
  compare: (one: Item, other: Item) => number
): Generator<Item, void> {
  // Sorted, the next one last, so that taking it moves nothing.
  const heads: Array<Head<Item>> = runs.map((run) => ({ item: run.bound, iterator: undefined, run }))
  heads.sort((one, other) => compare(other.item, one.item))
  for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
    if (head.iterator === undefined) head.iterator = head.run.items()
    else yield head.item
    const next = head.iterator.next()
    if (next.done === true) continue
    head.item = next.value
    heads.splice(position(heads, head.item, compare), 0, head)
  }
}

// Where an item belongs among heads whose next is last: before the first that is not behind it.
const position = <Item>(
  heads: ReadonlyArray<Head<Item>>,
  item: Item,
  compare: (one: Item, other: Item) => number
): number => {
  let low = 0
  let high = heads.length
  while (low < high) {
    const middle = (low + high) >>> 1
    // The index is in range.
    if (compare((heads[middle] as Head<Item>).item, item) > 0) low = middle + 1
    else high = middle
  }
  return low
}
