/**
 * Whether the arguments of a call keep the contract. The remote client asks before it sends, every driver before it
 * writes, so all of them refuse the same things in the same words.
 */
import { Cron, DateTime, Effect, Option, Result } from "effect"
import { refusingEach } from "./AckRefusals.ts"
import type { AckOutcome, ClaimManyOptions } from "./Claim.ts"
import * as Check from "./Checks.ts"
import type { Refusal } from "./Checks.ts"
import type { EnqueueRequest } from "./Enqueue.ts"
import { invalidArgument, limitExceeded } from "./Errors.ts"
import type { FlowChildReport, FlowChildSpec } from "./Flow.ts"
import type { ParentLink, TraceContext } from "./Job.ts"
import type { Service } from "./JobStore.ts"
import { byteLength } from "./Json.ts"
import type { Limits } from "./Limits.ts"
import { type Arguments, type OperationName, operationNames } from "./Operations.ts"
import type { BackoffPolicy, DedupePolicy, KeepPolicy, KeepRule } from "./Policy.ts"
import type { Metadata } from "./Scalars.ts"
import type { ScheduleRecord } from "./Schedule.ts"

// 32-bit, so that every database's plain integer holds it.
const leastInteger = -2_147_483_648
const mostInteger = 2_147_483_647

const id = (field: string, value: string, limits: Limits) => Check.text(field, value, limits.idLength)
const name = (field: string, value: string, limits: Limits) => Check.text(field, value, limits.nameLength)
const key = (field: string, value: string, limits: Limits) => Check.text(field, value, limits.keyLength)
const token = (field: string, value: string, limits: Limits) => Check.text(field, value, limits.tokenLength)
const opaque = (field: string, value: string, limits: Limits) => Check.text(field, value, limits.opaqueLength)
const pageSize = (field: string, value: number) => Check.integer(field, value, 1, mostInteger)

const metadata = (field: string, value: Metadata, limits: Limits): Refusal => {
  const refusal = Check.json(field, value, limits.metadataBytes)
  if (refusal !== undefined) return refusal
  for (const [entry, text] of Object.entries(value)) {
    if (typeof text !== "string") return invalidArgument(`${field}.${entry}`, "must be a string")
  }
  return undefined
}

const backoff = (field: string, value: BackoffPolicy, limits: Limits): Refusal =>
  Check.firstOf(
    () => Check.duration(`${field}.delayMs`, value.delayMs, limits.durationMs, 0),
    () => Check.optional(value.factor, (factor) => Check.duration(`${field}.factor`, factor, limits.durationMs, 0))
  )

const keepRule = (field: string, value: KeepRule, limits: Limits): Refusal =>
  Check.firstOf(
    () => Check.optional(value.count, (count) => Check.integer(`${field}.count`, count, 0, mostInteger)),
    () => Check.optional(value.ageMs, (age) => Check.duration(`${field}.ageMs`, age, limits.durationMs, 0))
  )

const keep = (field: string, value: KeepPolicy, limits: Limits): Refusal =>
  Check.firstOf(
    () => Check.optional(value.completed, (rule) => keepRule(`${field}.completed`, rule, limits)),
    () => Check.optional(value.failed, (rule) => keepRule(`${field}.failed`, rule, limits)),
    () => Check.optional(value.cancelled, (rule) => keepRule(`${field}.cancelled`, rule, limits))
  )

const dedupe = (field: string, value: DedupePolicy, limits: Limits): Refusal =>
  Check.firstOf(
    () => key(`${field}.key`, value.key, limits),
    () => Check.optional(value.ttlMs, (ttl) => Check.duration(`${field}.ttlMs`, ttl, limits.durationMs, 0))
  )

const trace = (field: string, value: TraceContext, limits: Limits): Refusal =>
  Check.firstOf(
    () => Check.freeText(`${field}.traceId`, value.traceId, limits.nameLength),
    () => Check.freeText(`${field}.spanId`, value.spanId, limits.nameLength)
  )

const parent = (field: string, value: ParentLink, limits: Limits): Refusal =>
  Check.firstOf(
    () => name(`${field}.flowName`, value.flowName, limits),
    () => id(`${field}.flowId`, value.flowId, limits),
    () => key(`${field}.childKey`, value.childKey, limits),
    () => key(`${field}.parentStoreKey`, value.parentStoreKey, limits),
    () => Check.integer(`${field}.depth`, value.depth, 0, mostInteger)
  )

type SharedFields = Pick<
  EnqueueRequest,
  "queue" | "payload" | "metadata" | "priority" | "attemptsMax" | "backoff" | "keep" | "timeoutMs"
>

// What a request and a schedule have in common.
const shared = (field: string, value: SharedFields, limits: Limits): Refusal =>
  Check.firstOf(
    () => name(`${field}.queue`, value.queue, limits),
    () => Check.json(`${field}.payload`, value.payload, limits.payloadBytes),
    () => metadata(`${field}.metadata`, value.metadata, limits),
    () => Check.integer(`${field}.priority`, value.priority, leastInteger, mostInteger),
    () => Check.integer(`${field}.attemptsMax`, value.attemptsMax, 0, mostInteger),
    () => Check.optional(value.backoff, (policy) => backoff(`${field}.backoff`, policy, limits)),
    () => Check.optional(value.keep, (policy) => keep(`${field}.keep`, policy, limits)),
    () => Check.optional(value.timeoutMs, (ms) => Check.duration(`${field}.timeoutMs`, ms, limits.durationMs, 0))
  )

const request = (field: string, value: EnqueueRequest, limits: Limits): Refusal =>
  Check.firstOf(
    () => Check.optional(value.id, (jobId) => id(`${field}.id`, jobId, limits)),
    () => name(`${field}.name`, value.name, limits),
    () => shared(field, value, limits),
    () => Check.optional(value.dedupe, (policy) => dedupe(`${field}.dedupe`, policy, limits)),
    () => Check.optional(value.trace, (context) => trace(`${field}.trace`, context, limits)),
    () => Check.optional(value.parent, (link) => parent(`${field}.parent`, link, limits)),
    () => Check.duration(`${field}.delayMs`, value.delayMs, limits.durationMs)
  )

const requestWithId = (field: string, value: EnqueueRequest, limits: Limits): Refusal =>
  value.id === undefined
    ? invalidArgument(`${field}.id`, "is missing: the caller must give the id of this job")
    : request(field, value, limits)

const totalBytes = (field: string, values: ReadonlyArray<unknown>, limits: Limits): Refusal => {
  const size = values.reduce<number>((sum, value) => sum + byteLength(value), 0)
  return size > limits.callBytes
    ? limitExceeded(field, size, limits.callBytes, "bytes of values in one call")
    : undefined
}

const children = (field: string, specs: ReadonlyArray<FlowChildSpec>, limits: Limits): Refusal => {
  const seen = new Set<string>()
  return Check.firstOf(
    () =>
      Check.list(field, specs, limits.batchLength, (at, spec) =>
        Check.firstOf(
          () => Check.fresh(`${at}.childKey`, spec.childKey, seen, "an earlier child's"),
          () => key(`${at}.childKey`, spec.childKey, limits),
          () => key(`${at}.storeKey`, spec.storeKey, limits),
          () => requestWithId(`${at}.request`, spec.request, limits)
        )
      ),
    () =>
      totalBytes(
        field,
        specs.map((spec) => spec.request.payload),
        limits
      )
  )
}

const outcome = (field: string, value: AckOutcome, limits: Limits): Refusal => {
  switch (value._tag) {
    case "Cancelled":
      return undefined
    case "FanOut":
      return children(`${field}.children`, value.children, limits)
    case "Retry":
      return Check.firstOf(
        () => Check.duration(`${field}.delayMs`, value.delayMs, limits.durationMs),
        () => Check.json(`${field}.exit`, value.exit, limits.exitBytes)
      )
    default:
      return Check.json(`${field}.exit`, value.exit, limits.exitBytes)
  }
}

const report = (field: string, value: FlowChildReport, limits: Limits): Refusal =>
  Check.firstOf(
    () => id(`${field}.flowId`, value.flowId, limits),
    () => key(`${field}.childKey`, value.childKey, limits),
    () => Check.json(`${field}.exit`, value.exit, limits.exitBytes),
    () =>
      Check.optional(value.failedReason, (reason) =>
        Check.freeText(`${field}.failedReason`, reason, limits.opaqueLength)
      )
  )

const cron = (field: string, value: string, limits: Limits): Refusal => {
  const refusal = key(field, value, limits)
  if (refusal !== undefined) return refusal
  const parsed = Cron.parse(value)
  return Result.isFailure(parsed) ? invalidArgument(field, `is not understood: ${parsed.failure.message}`) : undefined
}

const timeZone = (field: string, value: string, limits: Limits): Refusal => {
  const refusal = name(field, value, limits)
  if (refusal !== undefined) return refusal
  return Option.isNone(DateTime.zoneFromString(value))
    ? invalidArgument(field, `must be an IANA time zone or an offset, and is ${JSON.stringify(value)}`)
    : undefined
}

const cadence = (field: string, value: ScheduleRecord, limits: Limits): Refusal =>
  (value.cron === undefined) === (value.everyMs === undefined)
    ? invalidArgument(field, "must have exactly one of cron and everyMs")
    : Check.firstOf(
        () => Check.optional(value.cron, (expression) => cron(`${field}.cron`, expression, limits)),
        () => Check.optional(value.tz, (zone) => timeZone(`${field}.tz`, zone, limits)),
        () => Check.optional(value.everyMs, (every) => Check.duration(`${field}.everyMs`, every, limits.durationMs, 1))
      )

const schedule = (field: string, value: ScheduleRecord, limits: Limits): Refusal =>
  Check.firstOf(
    () => key(`${field}.key`, value.key, limits),
    () => name(`${field}.jobName`, value.jobName, limits),
    () => shared(field, value, limits),
    () => cadence(field, value, limits),
    () => Check.optional(value.group, (group) => key(`${field}.group`, group, limits)),
    () => Check.moment(`${field}.nextRunAt`, value.nextRunAt)
  )

// What a claim and many of them have in common.
const claims = (field: string, value: Omit<ClaimManyOptions, "tokens">, limits: Limits): Refusal =>
  Check.firstOf(
    () => name(`${field}.queue`, value.queue, limits),
    () => Check.list(`${field}.names`, value.names, limits.batchLength, (at, each) => name(at, each, limits)),
    () => Check.duration(`${field}.lockDurationMs`, value.lockDurationMs, limits.durationMs, 0)
  )

const tokens = (field: string, values: ReadonlyArray<string>, limits: Limits): Refusal => {
  const seen = new Set<string>()
  const refusal = Check.list(field, values, limits.claimLength, (at, value) =>
    Check.firstOf(
      () => token(at, value, limits),
      () => Check.fresh(at, value, seen, "an earlier token")
    )
  )
  if (refusal !== undefined || values.length > 0) return refusal
  return invalidArgument(field, "must have at least one token, one for each job that is wanted")
}

type Validators = {
  readonly [Name in OperationName]: (limits: Limits, ...args: Arguments<Name>) => Refusal
}

const onlyId = (limits: Limits, jobId: string) => id("id", jobId, limits)
const onlyQueue = (limits: Limits, queue: string) => name("queue", queue, limits)
const nothing = () => undefined

const validators: Validators = {
  enqueue: (limits, value) => request("request", value, limits),
  enqueueMany: (limits, requests) =>
    Check.list("requests", requests, limits.batchLength, (at, value) => request(at, value, limits)),
  claim: (limits, options) =>
    Check.firstOf(
      () => claims("options", options, limits),
      () => token("options.token", options.token, limits)
    ),
  claimMany: (limits, options) =>
    Check.firstOf(
      () => claims("options", options, limits),
      () => tokens("options.tokens", options.tokens, limits)
    ),
  ack: (limits, jobId, lockToken, value) =>
    Check.firstOf(
      () => id("id", jobId, limits),
      () => token("token", lockToken, limits),
      () => outcome("outcome", value, limits)
    ),
  // An ack that is bad refuses itself and not the call: see `validated`.
  ackMany: (limits, acks) => Check.list("acks", acks, limits.batchLength, nothing),
  release: (limits, jobId, lockToken) =>
    Check.firstOf(
      () => id("id", jobId, limits),
      () => token("token", lockToken, limits)
    ),
  extendLocks: (limits, locks, durationMs) =>
    Check.firstOf(
      () =>
        Check.list("locks", locks, limits.batchLength, (at, lock) =>
          Check.firstOf(
            () => id(`${at}.id`, lock.id, limits),
            () => token(`${at}.token`, lock.token, limits)
          )
        ),
      () => Check.duration("durationMs", durationMs, limits.durationMs, 0)
    ),
  recoverStalled: (_limits, options) =>
    Check.integer("options.maxStalledCount", options.maxStalledCount, 0, mostInteger),
  awaitWake: (limits, queues, wakeToken) =>
    Check.firstOf(
      () => Check.list("queues", queues, limits.batchLength, (at, queue) => name(at, queue, limits)),
      () => opaque("wakeToken", wakeToken, limits)
    ),
  getJob: onlyId,
  getAttempts: onlyId,
  list: (limits, options) =>
    Check.firstOf(
      () => Check.optional(options.queue, (queue) => name("options.queue", queue, limits)),
      () => Check.optional(options.name, (value) => name("options.name", value, limits)),
      () => Check.optional(options.metadata, (entries) => metadata("options.metadata", entries, limits)),
      () => Check.optional(options.cursor, (cursor) => opaque("options.cursor", cursor, limits)),
      () => Check.optional(options.limit, (limit) => pageSize("options.limit", limit))
    ),
  counts: (limits, queue) => Check.optional(queue, (value) => onlyQueue(limits, value)),
  retry: onlyId,
  cancel: onlyId,
  cancelByDedupe: (limits, jobName, dedupeKey) =>
    Check.firstOf(
      () => name("name", jobName, limits),
      () => key("key", dedupeKey, limits)
    ),
  promote: onlyId,
  remove: onlyId,
  pause: onlyQueue,
  resume: onlyQueue,
  pausedQueues: nothing,
  upsertSchedule: (limits, value) => schedule("schedule", value, limits),
  removeSchedule: (limits, scheduleKey) => key("key", scheduleKey, limits),
  listSchedules: (limits, filter) =>
    Check.firstOf(
      () => Check.optional(filter?.jobName, (value) => name("filter.jobName", value, limits)),
      () => Check.optional(filter?.queue, (value) => name("filter.queue", value, limits)),
      () => Check.optional(filter?.group, (value) => key("filter.group", value, limits))
    ),
  dueSchedules: nothing,
  tickSchedule: (limits, scheduleKey, expectedRunAt, nextRunAt, value) =>
    Check.firstOf(
      () => key("key", scheduleKey, limits),
      () => Check.moment("expectedRunAt", expectedRunAt),
      () => Check.moment("nextRunAt", nextRunAt),
      () => requestWithId("request", value, limits)
    ),
  advanceSchedule: (limits, scheduleKey, expectedRunAt, nextRunAt) =>
    Check.firstOf(
      () => key("key", scheduleKey, limits),
      () => Check.moment("expectedRunAt", expectedRunAt),
      () => Check.moment("nextRunAt", nextRunAt)
    ),
  recordChildResults: (limits, reports) =>
    Check.firstOf(
      () => Check.list("reports", reports, limits.batchLength, (at, value) => report(at, value, limits)),
      () =>
        totalBytes(
          "reports",
          reports.map((value) => value.exit),
          limits
        )
    ),
  listChildResults: (limits, flowId, options) =>
    Check.firstOf(
      () => id("flowId", flowId, limits),
      () => Check.optional(options?.cursor, (cursor) => opaque("options.cursor", cursor, limits)),
      () => Check.optional(options?.limit, (limit) => pageSize("options.limit", limit))
    ),
  flowSweepWork: (limits, options) =>
    Check.firstOf(
      () => Check.duration("options.pendingAgeMs", options.pendingAgeMs, limits.durationMs),
      () => Check.optional(options.limit, (limit) => pageSize("options.limit", limit))
    ),
  markChildrenCascaded: (limits, flowId, childKeys) =>
    Check.firstOf(
      () => id("flowId", flowId, limits),
      () => Check.list("childKeys", childKeys, limits.batchLength, (at, value) => key(at, value, limits))
    ),
  peekOutbox: (limits, options) =>
    Check.firstOf(
      () => pageSize("options.limit", options.limit),
      () => Check.optional(options.after, (after) => opaque("options.after", after, limits))
    ),
  deleteOutbox: (limits, ids) => Check.list("ids", ids, limits.batchLength, (at, value) => opaque(at, value, limits))
}

/** The error to refuse a call with, or `undefined` when its arguments keep the contract. */
export const validate = <Name extends OperationName>(
  operation: Name,
  args: Arguments<Name>,
  limits: Limits
): Refusal => {
  const validator = validators[operation]
  return validator(limits, ...args)
}

// Callers without types may send anything; what the checks cannot even read is refused too.
const inspected = (operation: OperationName, check: () => Refusal): Refusal => {
  try {
    return check()
  } catch (thrown) {
    return invalidArgument(operation, `has arguments of another shape than the contract's: ${String(thrown)}`)
  }
}

const validatedServices = new WeakMap<Service, Limits>()

/** The service with every call checked first. A service that checks by the same limits already is returned as it is. */
export const validated = (service: Service, limits: Limits): Service => {
  if (validatedServices.get(service) === limits) return service
  const checked: Record<string, (...args: Array<unknown>) => Effect.Effect<unknown, unknown>> = {}
  const ackMany = refusingEach(service.ackMany, (ack) =>
    inspected("ack", () => validate("ack", [ack.id, ack.token, ack.outcome], limits))
  )
  for (const operation of operationNames) {
    // The table pairs each operation with its own arguments, which the loop cannot tell the compiler.
    const run = (operation === "ackMany" ? ackMany : service[operation]) as (
      ...args: Array<unknown>
    ) => Effect.Effect<unknown, unknown>
    const check = validators[operation] as (limits: Limits, ...args: Array<unknown>) => Refusal
    checked[operation] = (...args) => {
      const refusal = inspected(operation, () => check(limits, ...args))
      return refusal === undefined ? run(...args) : Effect.fail(refusal)
    }
  }
  // Every operation of the table was put in, with the types of its method.
  const result = checked as unknown as Service
  validatedServices.set(result, limits)
  return result
}
