/** The statement of one page of a list. Its parameters are what a caller gave; its text depends on which of them are there. */
import type { JobState } from "@jobwire/protocol"
import { states as stateCodes } from "../../columns/Codes.ts"
import type { JobQuery } from "../../embedded/Tables.ts"
import { jobColumns, jobTables } from "../JobColumns.ts"
import { returned } from "../RowStates.ts"
import type { ListPlan } from "./ListPlan.ts"
import { storeTerm } from "./MetadataIndex.ts"

/** How much a page may hold. */
export interface PageSize {
  readonly length: number
  readonly bytes: number
}

/** A statement and what is bound to it. */
export interface BoundStatement {
  readonly sql: string
  readonly parameters: ReadonlyArray<unknown>
}

/** Gathers parameters, and gives each its place. */
class Parameters {
  readonly values: Array<unknown> = []

  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

const orderColumns = {
  enqueuedAt: "j.enqueued_at",
  runAt: "coalesce(l.run_at, d.run_at)",
  finishedAt: "coalesce(d.finished_at, 0)"
} as const

const finishedFrom = 4

/** The numbers that rows of these states have in `live` and in `done`; text of an array, for one parameter. */
const codesOf = (states: ReadonlyArray<JobState>) => {
  const codes = states.map(stateCodes.code)
  const live = codes.filter((code) => code < finishedFrom)
  const both = live.includes(stateCodes.code("waiting")) ? [...live, returned] : live
  return { live: `{${both.join()}}`, done: `{${codes.filter((code) => code >= finishedFrom).join()}}` }
}

const ofLane = (query: JobQuery, to: Parameters): string => {
  const queue = query.queue === undefined ? "" : ` and n.queue = ${to.add(query.queue)}`
  return query.name === undefined ? queue : `${queue} and n.name = ${to.add(query.name)}`
}

const ofState = (query: JobQuery, to: Parameters): string => {
  if (query.states === undefined) return ""
  const { done, live } = codesOf(query.states)
  return ` and (l.state = any(${to.add(live)}::int2[]) or d.state = any(${to.add(done)}::int2[]))`
}

const ofMetadata = (query: JobQuery, hasIndex: boolean, store: string, to: Parameters): string => {
  const entries = Object.entries(query.metadata ?? {})
  if (entries.length === 0) return ""
  const wanted = to.add(JSON.stringify(query.metadata))
  const held = ` and j.metadata @> ${wanted}::text::jsonb`
  return hasIndex
    ? `${held} and ${storeTerm("j.metadata", "j.store")} @> ${storeTerm(`${wanted}::text::jsonb`, store)}`
    : held
}

const ofPosition = (query: JobQuery, column: string, to: Parameters): string =>
  query.after === undefined
    ? ""
    : ` and (${column}, j.id) ${query.order === "desc" ? "<" : ">"} (${to.add(query.after.value)}::float8, ${to.add(query.after.id)}::text)`

/** Candidates lane by lane, each along the index of its order, with all that tie with the last one. */
const finishedArms = (query: JobQuery, limit: string, to: Parameters): string => {
  const past = query.order === "desc" ? "<=" : ">="
  const from = query.after === undefined ? "" : ` and d.finished_at ${past} ${to.add(query.after.value)}::float8`
  const { done } = codesOf(query.states ?? [])
  return `select f.seq from lane n
    cross join unnest(${to.add(done)}::int2[]) as s (state)
    cross join lateral (
      select d.seq from done d where d.store = n.store and d.lane = n.lane and d.state = s.state${from}
      order by d.finished_at ${query.order} fetch first ${limit} rows with ties
    ) f
    where n.store = $1${ofLane(query, to)}`
}

/** Candidates from every lane: all that are in one of the states. */
const gathered = (query: JobQuery, to: Parameters): string => {
  const { done, live } = codesOf(query.states ?? stateCodes.words)
  const lanes = ofLane(query, to)
  const parts = [
    `select l.seq from lane n join live l on l.store = n.store and l.lane = n.lane
     where n.store = $1 and l.state = any(${to.add(live)}::int2[])${lanes}`,
    `select d.seq from lane n join done d on d.store = n.store and d.lane = n.lane
     where n.store = $1 and d.state = any(${to.add(done)}::int2[])${lanes}`
  ]
  return parts.join("\n union all ")
}

/** The statement of a page, with one row more than the page to tell whether there is another; see {@link readPage}. */
export const listStatement = (
  store: number,
  query: JobQuery,
  plan: ListPlan,
  size: PageSize,
  hasMetadataIndex: boolean
): BoundStatement => {
  const to = new Parameters()
  const storePlace = to.add(store)
  const limit = to.add(size.length + 1)
  const column = orderColumns[query.orderBy]
  const order = `${column} ${query.order}, j.id ${query.order}`
  const candidates =
    plan === "walk"
      ? ""
      : `, c as materialized (${plan === "finished" ? finishedArms(query, limit, to) : gathered(query, to)})`
  const among = plan === "walk" ? "" : " and j.seq in (select c.seq from c)"
  const where = `j.store = ${storePlace}${among}${ofLane(query, to)}${ofState(query, to)}${ofMetadata(query, hasMetadataIndex, storePlace, to)}${ofPosition(query, column, to)}`
  const sql = `
    with none as (select)${candidates}, page as materialized (
      select j.store, j.seq, row_number() over (order by ${order}) as rank
      from ${jobTables} where ${where} order by ${order} limit ${limit}
    ), measured as (
      select page.store, page.seq, page.rank, count(*) over () as found, sum(
        coalesce(octet_length(j.payload::text), 0) + coalesce(octet_length(d.exit::text), 0) + coalesce(octet_length(j.metadata::text), 2)
      ) over (order by page.rank) as bytes
      from page join job j on j.store = page.store and j.seq = page.seq
      left join done d on d.store = page.store and d.seq = page.seq
    )
    select ${jobColumns}, measured.found::float8
    from measured join (${jobTables}) on j.store = measured.store and j.seq = measured.seq
    where measured.rank <= ${to.add(size.length)} and (measured.rank = 1 or measured.bytes <= ${to.add(size.bytes)})
    order by measured.rank`
  return { sql, parameters: to.values }
}
