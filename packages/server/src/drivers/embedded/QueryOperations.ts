/** Looking at jobs. */
import type { JobStore, JobStoreError, ListOptions, ListResult } from "@jobwire/protocol"
import { Effect, Option, Result } from "effect"
import type { JobRow } from "../../core/JobRow.ts"
import { decodeCursor, encodeCursor, orderValue } from "../../core/Order.ts"
import { takePage } from "../../core/Page.ts"
import type { Engine } from "./Engine.ts"
import { attemptRecord, jobBytes, jobRecord } from "./Records.ts"
import type { JobQuery, Tables } from "./Tables.ts"

/** How many jobs a page has when nobody says. */
export const defaultLength = 50

export const getJob =
  (engine: Engine): JobStore.Service["getJob"] =>
  (id) =>
    engine.read((tables) => Option.map(Option.fromUndefinedOr(tables.jobs.get(id)), jobRecord))

export const getAttempts =
  (engine: Engine): JobStore.Service["getAttempts"] =>
  (id) =>
    engine.read((tables) => {
      const row = tables.jobs.get(id)
      return row === undefined ? [] : tables.attempts.list(row).map(attemptRecord)
    })

export const counts =
  (engine: Engine): JobStore.Service["counts"] =>
  (queue) =>
    engine.read((tables) => tables.jobs.counts(queue))

export const list =
  (engine: Engine): JobStore.Service["list"] =>
  (options) => {
    const resolved = resolve(options)
    if (Result.isFailure(resolved)) return Effect.fail(resolved.failure)
    const query = resolved.success
    const length = Math.min(options.limit ?? defaultLength, engine.limits.pageLength)
    return engine.read((tables) => readPage(tables, query, { length, bytes: engine.limits.pageBytes }))
  }

/** The request of a page, with its defaults and the position of its cursor. */
export const resolve = (options: ListOptions): Result.Result<JobQuery, JobStoreError> => {
  const orderBy = options.orderBy ?? "enqueuedAt"
  const order = options.order ?? "desc"
  const after = options.cursor === undefined ? Result.succeed(undefined) : decodeCursor(options.cursor, orderBy, order)
  return Result.map(after, (after) => ({
    queue: options.queue,
    name: options.name,
    states: options.states,
    metadata: options.metadata,
    orderBy,
    order,
    after
  }))
}

const readPage = (
  tables: Tables,
  query: JobQuery,
  limits: { readonly length: number; readonly bytes: number }
): ListResult => {
  if (query.states?.length === 0) return { items: [], cursor: undefined }
  const { items, more } = takePage(tables.jobs.scan(query), limits, jobBytes)
  return pageOf(query, items, more)
}

/** These rows as a page, with a cursor when more follow. */
export const pageOf = (query: JobQuery, rows: ReadonlyArray<JobRow>, more: boolean): ListResult => {
  const last = rows.at(-1)
  return {
    items: rows.map(jobRecord),
    cursor:
      more && last !== undefined
        ? encodeCursor(query.orderBy, query.order, { value: orderValue(last, query.orderBy), id: last.id })
        : undefined
  }
}
