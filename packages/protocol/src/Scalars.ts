/**
 * The scalar kinds of the contract. The wire checks their type; `Validation` checks length, range and characters, so that
 * a refusal is a typed error which names the field.
 */
import { Schema } from "effect"

/** The id of a job, drawn by the caller or by the store. */
export const JobId = Schema.String.annotate({ identifier: "JobId" })
export type JobId = typeof JobId.Type

/** The name of a kind of job; a worker claims by names. */
export const JobName = Schema.String.annotate({ identifier: "JobName" })
export type JobName = typeof JobName.Type

/** The name of a queue. */
export const QueueName = Schema.String.annotate({ identifier: "QueueName" })
export type QueueName = typeof QueueName.Type

/** The key of a schedule. */
export const ScheduleKey = Schema.String.annotate({ identifier: "ScheduleKey" })
export type ScheduleKey = typeof ScheduleKey.Type

/** A worker's name for one claim: it fences every later call about the job, and must be new for every claim. */
export const LockToken = Schema.String.annotate({ identifier: "LockToken" })
export type LockToken = typeof LockToken.Type

/** Says how far a claim had seen when it came back empty. Opaque: only the store that gave it reads it. */
export const WakeToken = Schema.String.annotate({ identifier: "WakeToken" })
export type WakeToken = typeof WakeToken.Type

/** Where the next page starts. Opaque, and good only with the options that gave it. */
export const Cursor = Schema.String.annotate({ identifier: "Cursor" })
export type Cursor = typeof Cursor.Type

/** A moment: milliseconds since 1970-01-01T00:00:00Z. */
export const EpochMs = Schema.Finite.annotate({ identifier: "EpochMs" })

/** A length of time in milliseconds. Stores round it up to whole milliseconds; a negative one counts as 0. */
export const DurationMs = Schema.Finite.annotate({ identifier: "DurationMs" })

/** Flat string map that lists can be filtered by. */
export const Metadata = Schema.Record(Schema.String, Schema.String).annotate({ identifier: "Metadata" })
export type Metadata = typeof Metadata.Type
