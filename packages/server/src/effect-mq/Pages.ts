/** Pages that fit a message: effect-mq's drivers give as many rows as they are asked for, however large these are. */
import { Json, type Limits } from "@jobwire/protocol"
import { Effect } from "effect"

/** The bytes of some values. */
export const valueBytes = (...values: ReadonlyArray<unknown>): number =>
  values.reduce<number>((sum, value) => sum + Json.byteLength(value), 0)

/** The bytes of a job's values. */
export const jobBytes = (job: {
  readonly payload?: unknown
  readonly exit?: unknown
  readonly metadata: unknown
}): number => valueBytes(job.payload, job.exit, job.metadata)

/**
 * The page of at most `limit` rows, or one of half as many, and so on, until the values of its rows are within
 * `limits.pageBytes`. One row is always given.
 */
export const fitting = <Page, Error>(
  limit: number,
  limits: Limits.Limits,
  ask: (limit: number) => Effect.Effect<Page, Error>,
  bytesOf: (page: Page) => number
): Effect.Effect<Page, Error> =>
  Effect.gen(function* () {
    let rows = Math.min(limit, limits.pageLength)
    let page = yield* ask(rows)
    while (rows > 1 && bytesOf(page) > limits.pageBytes) {
      rows = Math.ceil(rows / 2)
      page = yield* ask(rows)
    }
    return page
  })
