/** What a producer decides about a job when it enqueues it: retries, retention, deduplication. */
import { Schema } from "effect"
import { defaulted, maybe } from "./Field.ts"
import { DurationMs } from "./Scalars.ts"

/**
 * How long a failed run waits before the next: always `delayMs` (fixed), or `delayMs * factor ** (run - 1)`
 * (exponential, factor 2 unless given). The worker computes the delay and sends it with its Retry.
 */
export const BackoffPolicy = Schema.Struct({
  _tag: Schema.Literals(["fixed", "exponential"]),
  delayMs: DurationMs,
  factor: maybe(Schema.Finite)
}).annotate({ identifier: "BackoffPolicy" })
export type BackoffPolicy = typeof BackoffPolicy.Type

/** Of the finished jobs of one name and state, keep at most `count`, and none that finished `ageMs` ago or earlier. */
export const KeepRule = Schema.Struct({
  count: maybe(Schema.Int),
  ageMs: maybe(DurationMs)
}).annotate({ identifier: "KeepRule" })
export type KeepRule = typeof KeepRule.Type

/** Retention by terminal state; a state that is absent keeps its jobs. */
export const KeepPolicy = Schema.Struct({
  completed: maybe(KeepRule),
  failed: maybe(KeepRule),
  cancelled: maybe(KeepRule)
}).annotate({ identifier: "KeepPolicy" })
export type KeepPolicy = typeof KeepPolicy.Type

/**
 * At most one job a key. Without `ttlMs` the key holds while its job is not terminal; with it, for that window, whether
 * or not the job has finished. `extend` pushes the window out at every dropped enqueue; `replace` rewrites the keyed job
 * while it is still delayed. Keys are scoped by job name, and never change an id.
 */
export const DedupePolicy = Schema.Struct({
  key: Schema.String,
  ttlMs: maybe(DurationMs),
  extend: defaulted(Schema.Boolean, false),
  replace: defaulted(Schema.Boolean, false)
}).annotate({ identifier: "DedupePolicy" })
export type DedupePolicy = typeof DedupePolicy.Type
