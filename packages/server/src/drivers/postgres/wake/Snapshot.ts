/**
 * Which transactions a statement could see. PostgreSQL's own snapshots, as `pg_current_snapshot()` gives them: everything from `next`
 * on had not ended yet, and of the earlier ones those that were open.
 *
 * Snapshots of one database grow: a later one sees what an earlier one saw. A snapshot may be told to see less than it did, which is
 * how a long one is cut short: who goes by it looks once too often, and never misses anything.
 */

/** Transactions in a row, both ends included. */
export interface Span {
  readonly first: number
  readonly last: number
}

/** What a statement could see. */
export interface Snapshot {
  /** The first number that no ended transaction had. */
  readonly next: number
  /** The transactions before `next` that were open, in ascending spans. */
  readonly open: ReadonlyArray<Span>
}

/** Reads PostgreSQL's text, `xmin:xmax:xip,xip`; `undefined` when it is none. */
export const parse = (text: string): Snapshot | undefined => {
  const match = /^(\d+):(\d+):([\d,]*)$/.exec(text)
  if (match === null) return undefined
  const [, , next = "", open = ""] = match
  return { next: Number(next), open: toSpans(open === "" ? [] : open.split(",").map(Number)) }
}

/** Whether what this transaction committed was there for the statement. */
export const sees = (snapshot: Snapshot, transaction: number): boolean =>
  transaction < snapshot.next && spanAt(snapshot.open, transaction) === undefined

/** Whether a snapshot sees all that an earlier one saw. */
export const covers = (snapshot: Snapshot, earlier: Snapshot): boolean =>
  earlier.next <= snapshot.next &&
  snapshot.open.every(({ first, last }) => {
    if (first >= earlier.next) return true
    const span = spanAt(earlier.open, first)
    return span !== undefined && span.last >= Math.min(last, earlier.next - 1)
  })

/** The snapshot in letters, digits, `_` and `+`, at most so many; open transactions that lie close together become one span for it. */
export const format = (snapshot: Snapshot, mostLength: number): string => {
  let { open } = snapshot
  let text = textOf(snapshot.next, open)
  while (text.length > mostLength && open.length > 1) {
    open = mergeNearest(open, Math.max(1, Math.floor((0.9 * open.length * mostLength) / text.length)))
    text = textOf(snapshot.next, open)
  }
  return text
}

/** Reads what {@link format} gave; `undefined` when it is something else. */
export const read = (text: string): Snapshot | undefined => {
  if (!/^[0-9a-z]+(_[0-9a-z]+(\+[0-9a-z]+)?)*$/.test(text)) return undefined
  const [head = "", ...parts] = text.split("_")
  const next = Number.parseInt(head, 36)
  const open: Array<Span> = []
  let above = next
  for (const part of parts) {
    const [gap = "", more = "0"] = part.split("+")
    const last = above - Number.parseInt(gap, 36)
    const first = last - Number.parseInt(more, 36)
    open.unshift({ first, last })
    above = first
  }
  return Number.isSafeInteger(next) && above >= 0 ? { next, open } : undefined
}

// From the end to the start, each number as its distance from the one before: most are small.
const textOf = (next: number, open: ReadonlyArray<Span>): string => {
  let text = next.toString(36)
  let above = next
  for (const { first, last } of open.toReversed()) {
    text += `_${(above - last).toString(36)}${first === last ? "" : `+${(last - first).toString(36)}`}`
    above = first
  }
  return text
}

const toSpans = (ascending: ReadonlyArray<number>): ReadonlyArray<Span> => {
  const spans: Array<Span> = []
  for (const number of ascending) {
    const before = spans.at(-1)
    if (before !== undefined && before.last + 1 === number) spans[spans.length - 1] = { ...before, last: number }
    else spans.push({ first: number, last: number })
  }
  return spans
}

const spanAt = (spans: ReadonlyArray<Span>, transaction: number): Span | undefined => {
  let low = 0
  let high = spans.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const span = spans[middle]
    if (span === undefined || transaction < span.first) high = middle - 1
    else if (transaction > span.last) low = middle + 1
    else return span
  }
  return undefined
}

/** So many spans, which the widest gaps part. */
const mergeNearest = (spans: ReadonlyArray<Span>, count: number): ReadonlyArray<Span> => {
  const gapBefore = (index: number): number => (spans[index]?.first ?? 0) - (spans[index - 1]?.last ?? 0)
  const starts = new Set(
    Array.from({ length: spans.length - 1 }, (_, index) => index + 1)
      .toSorted((one, other) => gapBefore(other) - gapBefore(one))
      .slice(0, count - 1)
  )
  const merged: Array<Span> = []
  spans.forEach((span, index) => {
    const before = merged.at(-1)
    if (before === undefined || starts.has(index)) merged.push(span)
    else merged[merged.length - 1] = { first: before.first, last: span.last }
  })
  return merged
}
