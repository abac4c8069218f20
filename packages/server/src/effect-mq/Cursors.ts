/**
 * effect-mq's drivers do not tell a bad cursor from a good one. Ours carry a check over the list they belong to and over
 * themselves, so a cursor of another list, or one that was cut or made up, is refused instead of answered with some page.
 */
import { type Cursor, invalidArgument, type JobStoreError, type ListOptions } from "@jobwire/protocol"
import { Effect, Hash } from "effect"

// Two lists differ in what they match or how they order; the size of a page may change on the way.
const check = (options: ListOptions, theirs: string): string => {
  const { metadata, name, order = "desc", orderBy = "enqueuedAt", queue, states } = options
  const entries = Object.entries(metadata ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const identity = [queue ?? null, name ?? null, states?.toSorted() ?? null, entries, orderBy, order, theirs]
  return (Hash.string(JSON.stringify(identity)) >>> 0).toString(36)
}

/** Our cursor for the driver's. */
export const toOurs = (options: ListOptions, theirs: string): Cursor => `${check(options, theirs)}~${theirs}`

/** The driver's cursor in ours. */
export const toTheirs = (options: ListOptions): Effect.Effect<string | undefined, JobStoreError> => {
  if (options.cursor === undefined) return Effect.undefined
  const theirs = options.cursor.slice(options.cursor.indexOf("~") + 1)
  return options.cursor === toOurs(options, theirs)
    ? Effect.succeed(theirs)
    : Effect.fail(
        invalidArgument(
          "options.cursor",
          "is no cursor of this list: pass on the one that the page before gave, with the same options"
        )
      )
}
