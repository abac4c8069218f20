/**
 * How long, how big and how many: the limits of the contract, the same for every driver and every transport.
 *
 * Lengths count UTF-16 code units (what `string.length` gives), sizes count UTF-8 bytes of the JSON text. A call over a
 * limit is refused before anything is sent or written, by an error that names the field, the limit and the size.
 */
import { Context, Schema } from "effect"

/** The set of limits. {@link defaults} has the values that hold unless a layer is given others. */
export const LimitsSchema = Schema.Struct({
  /** Length of a job id. */
  idLength: Schema.Int,
  /** Length of the name of a job, a queue, a flow or a store. */
  nameLength: Schema.Int,
  /** Length of a dedupe, schedule, child or store key, and of a schedule's group. */
  keyLength: Schema.Int,
  /** Length of a lock token. */
  tokenLength: Schema.Int,
  /** Length of a cursor, a wake token, an outbox id or a reason, which stores and workers make. */
  opaqueLength: Schema.Int,
  /** Bytes of a job's payload. */
  payloadBytes: Schema.Int,
  /** Bytes of an exit. */
  exitBytes: Schema.Int,
  /** Bytes of a job's metadata, all entries together. */
  metadataBytes: Schema.Int,
  /** Items in one batch: requests, acks, locks, reports, children, names, queues, ids. */
  batchLength: Schema.Int,
  /** Tokens of one `claimMany`, and so the jobs that it gives at most. */
  claimLength: Schema.Int,
  /** Bytes of all payloads and exits in one call that is atomic and so cannot be cut (fan-out, reports). */
  callBytes: Schema.Int,
  /** Rows of one page; a page also ends before its values pass `pageBytes`. */
  pageLength: Schema.Int,
  /** Bytes of the values in one page. */
  pageBytes: Schema.Int,
  /** Milliseconds of any delay, duration or age: a hundred years. */
  durationMs: Schema.Int
})

/** See {@link LimitsSchema}. */
export type Limits = typeof LimitsSchema.Type

/** The documented limits. */
export const defaults: Limits = {
  idLength: 512,
  nameLength: 256,
  keyLength: 512,
  tokenLength: 256,
  opaqueLength: 4096,
  payloadBytes: 1_048_576,
  exitBytes: 1_048_576,
  metadataBytes: 16_384,
  batchLength: 10_000,
  claimLength: 1000,
  callBytes: 8_388_608,
  pageLength: 1000,
  pageBytes: 4_194_304,
  durationMs: 3_155_760_000_000
}

/** The limits in force where a layer is built; provide another value to change them. */
export const CurrentLimits = Context.Reference<Limits>("@jobwire/protocol/Limits", {
  defaultValue: () => defaults
})
