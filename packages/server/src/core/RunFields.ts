/** What a request and a schedule say alike about the runs to come, as the store keeps it: with whole milliseconds. */
import type { BackoffPolicy, KeepPolicy, KeepRule } from "@jobwire/protocol"
import { wholeMs } from "./Time.ts"

/** A copy: rows share nothing with a request, so that its owner may change it, and nothing in them can be changed by a reader. */
export const frozen = <A extends object>(value: A): A => Object.freeze({ ...value })

/** Leaves `undefined` as it is. */
export const optionally = <A, B>(value: A | undefined, f: (value: A) => B): B | undefined =>
  value === undefined ? undefined : f(value)

const noMetadata: Readonly<Record<string, string>> = Object.freeze({})

/** The metadata of a row. */
export const metadataOf = (metadata: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  for (const _key in metadata) return frozen(metadata)
  return noMetadata
}

/** The backoff of a row. */
export const backoffPolicy = (backoff: BackoffPolicy): BackoffPolicy =>
  Object.freeze({ _tag: backoff._tag, delayMs: wholeMs(backoff.delayMs), factor: backoff.factor })

const keepRule = (rule: KeepRule): KeepRule =>
  Object.freeze({ count: rule.count, ageMs: optionally(rule.ageMs, wholeMs) })

/** The retention of a row. */
export const keepPolicy = (keep: KeepPolicy): KeepPolicy =>
  Object.freeze({
    completed: optionally(keep.completed, keepRule),
    failed: optionally(keep.failed, keepRule),
    cancelled: optionally(keep.cancelled, keepRule)
  })
