/**
 * Small structured fields as the JSON text of a column. An absent field is absent in the text, and an own key with
 * `undefined` in the value again, as everywhere in the contract.
 */
import type {
  BackoffPolicy,
  FlowState,
  KeepPolicy,
  KeepRule,
  Metadata,
  ParentLink,
  ScheduleRecord,
  TraceContext
} from "@jobwire/protocol"

/** The text of a field; null when it is absent. */
export const encodeField = (value: object | undefined): string | null =>
  value === undefined ? null : JSON.stringify(value)

/** The text of metadata; null when there is none, as for most jobs. */
export const encodeMetadata = (metadata: Metadata): string | null => {
  const text = JSON.stringify(metadata)
  return text === "{}" ? null : text
}

/** Metadata from its text. */
export const decodeMetadata = (text: string | null): Metadata => (text === null ? {} : JSON.parse(text))

/** A policy for retries from its text. */
export const decodeBackoff = (text: string | null): BackoffPolicy | undefined =>
  text === null ? undefined : wholeBackoff(JSON.parse(text))

/** A policy for retention from its text. */
export const decodeKeep = (text: string | null): KeepPolicy | undefined =>
  text === null ? undefined : wholeKeep(JSON.parse(text))

/** A producer's span from its text. */
export const decodeTrace = (text: string | null): TraceContext | undefined =>
  text === null ? undefined : JSON.parse(text)

/** The link to a parent from its text. */
export const decodeParent = (text: string | null): ParentLink | undefined =>
  text === null ? undefined : JSON.parse(text)

/** The counters of a flow from their text. */
export const decodeFlow = (text: string | null): FlowState | undefined => (text === null ? undefined : JSON.parse(text))

/** A schedule from its text. */
export const decodeSchedule = (text: string): ScheduleRecord => {
  const stored: ScheduleRecord = JSON.parse(text)
  return {
    key: stored.key,
    jobName: stored.jobName,
    queue: stored.queue,
    cron: stored.cron,
    tz: stored.tz,
    everyMs: stored.everyMs,
    payload: stored.payload,
    metadata: stored.metadata,
    priority: stored.priority,
    attemptsMax: stored.attemptsMax,
    backoff: stored.backoff === undefined ? undefined : wholeBackoff(stored.backoff),
    keep: stored.keep === undefined ? undefined : wholeKeep(stored.keep),
    timeoutMs: stored.timeoutMs,
    group: stored.group,
    nextRunAt: stored.nextRunAt
  }
}

const wholeBackoff = (stored: BackoffPolicy): BackoffPolicy => ({
  _tag: stored._tag,
  delayMs: stored.delayMs,
  factor: stored.factor
})

const wholeKeep = (stored: KeepPolicy): KeepPolicy => ({
  completed: wholeRule(stored.completed),
  failed: wholeRule(stored.failed),
  cancelled: wholeRule(stored.cancelled)
})

const wholeRule = (stored: KeepRule | undefined): KeepRule | undefined =>
  stored === undefined ? undefined : { count: stored.count, ageMs: stored.ageMs }
