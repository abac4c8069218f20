/**
 * Lists. Each lane and state has its own run of rows in an index, in each order; a list merges the runs that match, and
 * begins a run only when its times may have come. So a page reads little more than itself, whatever else the store holds.
 */
import type { JobState } from "@jobwire/protocol"
import type { DatabaseSync } from "node:sqlite"
import type { JobRow } from "../../core/JobRow.ts"
import { compareText } from "../../core/Order.ts"
import type { JobQuery, JobTable } from "../embedded/Tables.ts"
import { inChunks } from "../embedded/Chunks.ts"
import { states } from "../columns/Codes.ts"
import { decodeMetadata } from "../columns/FieldText.ts"
import { decodeJob, type JobTuple } from "./JobColumns.ts"
import { keyOf, seqOf } from "./JobKey.ts"
import { type Lane, tallyOf } from "./Lanes.ts"
import { merge, type Run } from "./Merge.ts"
import { prepare, type Statement } from "./Statement.ts"
import type { StoreState } from "./StoreState.ts"

/** A job in an order. No id stands for a position before all ids, as `bound` of a run. */
type Entry = readonly [value: number, id: string | undefined, seq: number]
type EntryTuple = [value: number, id: string, seq: number]

type OrderBy = JobQuery["orderBy"]
type Direction = JobQuery["order"]

/**
 * The value of an order as SQL. Jobs that are not finished count as 0 in the order by `finishedAt` and are sorted by id
 * alone: the jobs of a lane and state are all read for it, so that a walk by id does not read all others.
 */
const valueColumns = { enqueuedAt: "enqueued_at", runAt: "run_at", finishedAt: "finished_at", unfinished: "0" } as const

/** One chunk of one lane and state, from behind a value and an id; exported for the test that reads its plan. */
export const chunkOf = (column: keyof typeof valueColumns, order: Direction): string => {
  const value = valueColumns[column]
  const behind = order === "asc" ? ">" : "<"
  const finished = column === "finishedAt" ? "and state >= 4" : ""
  return `
    select ${value}, id, ${seqOf("key")} from status ${column === "unfinished" ? "indexed by status_enqueued" : ""}
    where store = ?1 and lane = ?2 and state = ?3 ${finished}
      and ${value} ${behind}= ?4 and (${value} ${behind} ?4 or id ${behind} ?5)
    order by ${column === "unfinished" ? "" : `${value} ${order},`} id ${order} limit ?6`
}

type ChunkSql = Readonly<Record<keyof typeof valueColumns, Readonly<Record<Direction, Statement<EntryTuple>>>>>

const prepareChunks = (db: DatabaseSync): ChunkSql => {
  const both = (column: keyof typeof valueColumns) => ({
    asc: prepare<EntryTuple>(db, chunkOf(column, "asc")),
    desc: prepare<EntryTuple>(db, chunkOf(column, "desc"))
  })
  return {
    enqueuedAt: both("enqueuedAt"),
    runAt: both("runAt"),
    finishedAt: both("finishedAt"),
    unfinished: both("unfinished")
  }
}

const compareEntries =
  (order: Direction) =>
  (one: Entry, other: Entry): number => {
    if (one[0] !== other[0]) return order === "asc" ? one[0] - other[0] : other[0] - one[0]
    if (one[1] === undefined || other[1] === undefined)
      return (one[1] === undefined ? 0 : 1) - (other[1] === undefined ? 0 : 1)
    return order === "asc" ? compareText(one[1], other[1]) : compareText(other[1], one[1])
  }

/** Where a run starts, as the value and id before its first row. */
const startOf = (query: Pick<JobQuery, "after" | "order">): readonly [value: number, id: string] => {
  if (query.after !== undefined) return [query.after.value, query.after.id]
  return [query.order === "asc" ? -Number.MAX_VALUE : Number.MAX_VALUE, ""]
}

/** The keys of the matching jobs, but for what the query says of metadata. */
const entriesOf = (chunks: ChunkSql, store: StoreState, query: JobQuery): Iterable<Entry> => {
  const wanted = new Set(query.states ?? states.words)
  const segments: Array<readonly [Lane, JobState]> = []
  for (const lane of store.lanes.matching(query.queue, query.name)) {
    for (const state of wanted) if (tallyOf(lane, state) > 0) segments.push([lane, state])
  }
  const firstChunk = Math.max(8, Math.min(64, Math.floor(256 / Math.max(1, segments.length))))
  const runs = segments.map(([lane, state]) => runOf(chunks, store, query, lane, state, firstChunk))
  return merge(runs, compareEntries(query.order))
}

const runOf = (
  chunks: ChunkSql,
  store: StoreState,
  query: JobQuery,
  lane: Lane,
  state: JobState,
  firstChunk: number
): Run<Entry> => {
  const column = columnOf(query.orderBy, state)
  const statement = chunks[column][query.order]
  const start = startOf(query)
  const first = query.order === "asc" ? lane.earliest : lane.latest
  return {
    bound: [column === "unfinished" ? 0 : first, undefined, 0],
    items: () =>
      inChunks<EntryTuple>((after, limit) => {
        const [value, id] = after ?? start
        return statement.all(store.id, lane.id, states.code(state), value, id, limit)
      }, firstChunk)
  }
}

const columnOf = (orderBy: OrderBy, state: JobState): keyof typeof valueColumns =>
  orderBy === "finishedAt" && states.code(state) < states.code("completed") ? "unfinished" : orderBy

/** Prepares the lists; answers what makes the list of a store. */
export const prepareScan = (
  db: DatabaseSync,
  byKey: Statement<JobTuple>
): ((store: StoreState) => JobTable["scan"]) => {
  const chunks = prepareChunks(db)
  const metadataOf = prepare<[string | null]>(db, `select metadata from job where key = ${keyOf("?1", "?2")}`)
  return (store) =>
    function* (query): Generator<JobRow, void> {
      const wanted = Object.entries(query.metadata ?? {})
      for (const [, , seq] of entriesOf(chunks, store, query)) {
        if (wanted.length > 0 && !hasAll(metadataOf.get(store.id, seq)?.[0] ?? null, wanted)) continue
        const tuple = byKey.get(store.id, seq)
        if (tuple !== undefined) yield decodeJob(tuple, store.lanes)
      }
    }
}

const hasAll = (text: string | null, wanted: ReadonlyArray<readonly [string, string]>): boolean => {
  if (text === null) return false
  const metadata = decodeMetadata(text)
  return wanted.every(([key, value]) => Object.hasOwn(metadata, key) && metadata[key] === value)
}
