/**
 * Calls of any length as calls within the limits, and pages of any length from pages within the limits: effect-mq bounds
 * neither.
 */
import { type FlowChildReport, Json, type Limits, type OutboxEntry } from "@jobwire/protocol"
import { Array as Arr, Effect } from "effect"
import { chunksOf } from "../Chunks.ts"

/** Runs a call for at most `limits.batchLength` items at a time, one call after another. */
export const inBatches = <Item, Answer, Error>(
  items: ReadonlyArray<Item>,
  limits: Limits.Limits,
  call: (batch: ReadonlyArray<Item>) => Effect.Effect<Answer, Error>
): Effect.Effect<ReadonlyArray<Answer>, Error> =>
  items.length <= limits.batchLength
    ? Effect.map(call(items), Arr.of)
    : Effect.forEach(Arr.chunksOf(items, limits.batchLength), call)

/**
 * Reports in batches that are within both limits of one call. effect-mq allows that: each batch is atomic and settles a
 * parent at most once.
 */
export const reportBatches = (
  reports: ReadonlyArray<FlowChildReport>,
  limits: Limits.Limits
): ReadonlyArray<ReadonlyArray<FlowChildReport>> =>
  chunksOf(reports, { length: limits.batchLength, bytes: limits.callBytes }, ({ exit }) => Json.byteLength(exit))

/** Follows the cursor until `limit` rows are there, or no more. */
export const fillPage = <Row, Cursor extends string, Error>(
  limit: number,
  first: Cursor | undefined,
  ask: (
    limit: number,
    cursor: Cursor | undefined
  ) => Effect.Effect<{ readonly items: ReadonlyArray<Row>; readonly cursor: Cursor | undefined }, Error>
): Effect.Effect<{ readonly items: ReadonlyArray<Row>; readonly cursor: Cursor | undefined }, Error> =>
  Effect.gen(function* () {
    let page = yield* ask(limit, first)
    while (page.cursor !== undefined && page.items.length < limit) {
      const next = yield* ask(limit - page.items.length, page.cursor)
      page = { items: [...page.items, ...next.items], cursor: next.cursor }
    }
    return page
  })

/** The outbox has no cursor: a short page is the last one, unless a limit of the page may have cut it. */
export const fillOutboxPage = <Error>(
  limit: number,
  after: string | undefined,
  limits: Limits.Limits,
  ask: (limit: number, after: string | undefined) => Effect.Effect<ReadonlyArray<OutboxEntry>, Error>
): Effect.Effect<ReadonlyArray<OutboxEntry>, Error> =>
  Effect.gen(function* () {
    const entries: Array<OutboxEntry> = []
    while (entries.length < limit) {
      const page = yield* ask(limit - entries.length, entries.at(-1)?.id ?? after)
      entries.push(...page)
      if (!mayHaveBeenCut(page, limits)) break
    }
    return entries
  })

const mayHaveBeenCut = (page: ReadonlyArray<OutboxEntry>, limits: Limits.Limits): boolean => {
  if (page.length >= limits.pageLength) return true
  const bytes = page.reduce((sum, entry) => sum + Json.byteLength(entry.report.exit), 0)
  return bytes > limits.pageBytes - limits.exitBytes
}
