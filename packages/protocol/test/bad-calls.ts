/** Calls that break the contract in one place each, by operation. */
import {
  type Arguments,
  type EnqueueRequest,
  type JobStore,
  type JobStoreError,
  type JobStoreErrorReason,
  Limits,
  type OperationName,
  Validation
} from "@jobwire/protocol"
import type { Effect } from "effect"
import { child, full, plain, schedule } from "./samples.ts"

const { defaults } = Limits

type Reason = JobStoreErrorReason["_tag"]

/** A call that must be refused: the field that the refusal names, and why. */
export interface Bad {
  readonly operation: OperationName
  readonly field: string
  readonly reason: Reason
  readonly check: (limits: Limits.Limits) => JobStoreError | undefined
  readonly call: (service: JobStore.Service) => Effect.Effect<unknown, unknown>
}

const bad = <Name extends OperationName>(
  operation: Name,
  args: Arguments<Name>,
  field: string,
  reason: Reason = "InvalidArgument"
): Bad => ({
  operation,
  field,
  reason,
  check: (limits) => Validation.validate(operation, args, limits),
  // The table has the types of the methods, which a generic name hides from the compiler.
  call: (service) => (service[operation] as (...args: Arguments<Name>) => Effect.Effect<unknown, unknown>)(...args)
})

const long = (limit: number) => "x".repeat(limit + 1)

/** A call with a string that is bad, in each of the ways that a string can be. */
const badStrings = (limit: number, make: (value: string, reason: Reason) => Bad): ReadonlyArray<Bad> => [
  make("", "InvalidArgument"),
  make("a\u0000", "InvalidArgument"),
  make("\ud83d", "InvalidArgument"),
  make(long(limit), "LimitExceeded")
]

const requests = (fields: Partial<EnqueueRequest>, field: string, reason?: Reason) =>
  bad("enqueue", [{ ...plain, ...fields }], `request.${field}`, reason)

const badRequests: ReadonlyArray<Bad> = [
  ...badStrings(defaults.idLength, (id, reason) => requests({ id }, "id", reason)),
  ...badStrings(defaults.nameLength, (name, reason) => requests({ name }, "name", reason)),
  ...badStrings(defaults.nameLength, (queue, reason) => requests({ queue }, "queue", reason)),
  ...badStrings(defaults.keyLength, (key, reason) =>
    requests({ dedupe: { key, ttlMs: undefined, extend: false, replace: false } }, "dedupe.key", reason)
  ),
  requests({ payload: { at: [Number.NaN] } }, "payload.at[0]"),
  requests({ payload: { deep: { later: undefined } } }, "payload.deep.later"),
  requests({ payload: 10n }, "payload"),
  requests({ payload: "x".repeat(defaults.payloadBytes - 1) }, "payload", "LimitExceeded"),
  requests({ metadata: { big: "x".repeat(defaults.metadataBytes) } }, "metadata", "LimitExceeded"),
  requests({ metadata: { bad: "\u0000" } }, "metadata.bad"),
  requests({ priority: 1.5 }, "priority"),
  requests({ priority: 2_147_483_648 }, "priority"),
  requests({ priority: -2_147_483_649 }, "priority"),
  requests({ priority: Number.NaN }, "priority"),
  requests({ attemptsMax: -1 }, "attemptsMax"),
  requests({ attemptsMax: Infinity }, "attemptsMax"),
  requests({ backoff: { _tag: "fixed", delayMs: -1, factor: undefined } }, "backoff.delayMs"),
  requests({ backoff: { _tag: "exponential", delayMs: 1, factor: Number.NaN } }, "backoff.factor"),
  requests(
    { keep: { completed: { count: -1, ageMs: 0 }, failed: undefined, cancelled: undefined } },
    "keep.completed.count"
  ),
  requests(
    { keep: { completed: undefined, failed: { count: 1, ageMs: -1 }, cancelled: undefined } },
    "keep.failed.ageMs"
  ),
  requests(
    { keep: { completed: undefined, failed: undefined, cancelled: { count: 0.5, ageMs: 0 } } },
    "keep.cancelled.count"
  ),
  requests({ timeoutMs: -1 }, "timeoutMs"),
  requests({ delayMs: Number.NaN }, "delayMs"),
  requests({ delayMs: defaults.durationMs + 1 }, "delayMs", "LimitExceeded"),
  requests({ delayMs: -defaults.durationMs - 1 }, "delayMs"),
  requests({ dedupe: { key: "k", ttlMs: -1, extend: false, replace: false } }, "dedupe.ttlMs"),
  requests({ dedupe: { key: "k", ttlMs: Infinity, extend: false, replace: false } }, "dedupe.ttlMs"),
  requests({ trace: { traceId: "\u0000", spanId: "s", sampled: true, delayed: false } }, "trace.traceId"),
  requests(
    { trace: { traceId: "t", spanId: long(256), sampled: true, delayed: false } },
    "trace.spanId",
    "LimitExceeded"
  ),
  requests({ parent: { flowName: "", flowId: "p", childKey: "c", parentStoreKey: "s", depth: 1 } }, "parent.flowName"),
  requests({ parent: { flowName: "f", flowId: "", childKey: "c", parentStoreKey: "s", depth: 1 } }, "parent.flowId"),
  requests({ parent: { flowName: "f", flowId: "p", childKey: "", parentStoreKey: "s", depth: 1 } }, "parent.childKey"),
  requests(
    { parent: { flowName: "f", flowId: "p", childKey: "c", parentStoreKey: "", depth: 1 } },
    "parent.parentStoreKey"
  ),
  requests({ parent: { flowName: "f", flowId: "p", childKey: "c", parentStoreKey: "s", depth: 0.5 } }, "parent.depth")
]

const claims = (fields: Partial<Arguments<"claim">[0]>, field: string, reason?: Reason) =>
  bad(
    "claim",
    [{ queue: "queue", names: ["job"], token: "token", lockDurationMs: 1, ...fields }],
    `options.${field}`,
    reason
  )

const manyClaims = (fields: Partial<Arguments<"claimMany">[0]>, field: string, reason?: Reason) =>
  bad(
    "claimMany",
    [{ queue: "queue", names: ["job"], tokens: ["token"], lockDurationMs: 1, ...fields }],
    `options.${field}`,
    reason
  )

const acks = (outcome: Arguments<"ack">[2], field: string, reason?: Reason) =>
  bad("ack", ["id", "token", outcome], `outcome.${field}`, reason)

const fanOut = (...children: ReadonlyArray<typeof child>) => ({ _tag: "FanOut", failFast: false, children }) as const

const many = <A>(item: A): ReadonlyArray<A> => Array.from({ length: defaults.batchLength + 1 }, () => item)

const big = "x".repeat(1_000_000)

const badLeases: ReadonlyArray<Bad> = [
  ...badStrings(defaults.nameLength, (queue, reason) => claims({ queue }, "queue", reason)),
  ...badStrings(defaults.nameLength, (name, reason) => claims({ names: ["job", name] }, "names[1]", reason)),
  ...badStrings(defaults.tokenLength, (token, reason) => claims({ token }, "token", reason)),
  claims({ names: many("job") }, "names", "LimitExceeded"),
  claims({ lockDurationMs: -1 }, "lockDurationMs"),
  claims({ lockDurationMs: Infinity }, "lockDurationMs"),
  manyClaims({ queue: "" }, "queue"),
  manyClaims({ names: ["job", ""] }, "names[1]"),
  manyClaims({ lockDurationMs: -1 }, "lockDurationMs"),
  ...badStrings(defaults.tokenLength, (token, reason) => manyClaims({ tokens: ["t", token] }, "tokens[1]", reason)),
  manyClaims({ tokens: [] }, "tokens"),
  manyClaims({ tokens: ["t", "u", "t"] }, "tokens[2]"),
  manyClaims({ tokens: Array.from({ length: defaults.claimLength + 1 }, (_, n) => `${n}`) }, "tokens", "LimitExceeded"),
  ...badStrings(defaults.tokenLength, (token, reason) =>
    bad("ack", ["id", token, { _tag: "Cancelled" }], "token", reason)
  ),
  ...badStrings(defaults.idLength, (id, reason) => bad("ack", [id, "token", { _tag: "Cancelled" }], "id", reason)),
  acks({ _tag: "Complete", exit: { at: new Date(0) } }, "exit.at"),
  acks({ _tag: "Fail", exit: "x".repeat(defaults.exitBytes) }, "exit", "LimitExceeded"),
  acks({ _tag: "Retry", delayMs: Number.NaN, exit: undefined }, "delayMs"),
  acks({ _tag: "Retry", delayMs: 0, exit: () => 1 }, "exit"),
  acks(fanOut(child, child), "children[1].childKey"),
  acks(fanOut({ ...child, childKey: "" }), "children[0].childKey"),
  acks(fanOut({ ...child, storeKey: "" }), "children[0].storeKey"),
  acks(fanOut({ ...child, request: plain }), "children[0].request.id"),
  acks(fanOut({ ...child, request: { ...full, payload: Infinity } }), "children[0].request.payload"),
  acks(
    fanOut(
      ...Array.from({ length: 9 }, (_, n) => ({ ...child, childKey: `${n}`, request: { ...full, payload: big } }))
    ),
    "children",
    "LimitExceeded"
  ),
  bad("ackMany", [many({ id: "id", token: "t", outcome: { _tag: "Cancelled" } })], "acks", "LimitExceeded"),
  bad("release", ["", "token"], "id"),
  bad("release", ["id", ""], "token"),
  bad("extendLocks", [[{ id: "id", token: "" }], 1], "locks[0].token"),
  bad("extendLocks", [[{ id: "", token: "t" }], 1], "locks[0].id"),
  bad("extendLocks", [many({ id: "id", token: "t" }), 1], "locks", "LimitExceeded"),
  bad("extendLocks", [[], -1], "durationMs"),
  bad("recoverStalled", [{ maxStalledCount: -1 }], "options.maxStalledCount"),
  bad("recoverStalled", [{ maxStalledCount: 0.5 }], "options.maxStalledCount"),
  bad("awaitWake", [["queue", ""], "w"], "queues[1]"),
  bad("awaitWake", [["queue"], ""], "wakeToken"),
  bad("awaitWake", [["queue"], long(defaults.opaqueLength)], "wakeToken", "LimitExceeded")
]

const lists = (fields: Partial<Arguments<"list">[0]>, field: string) =>
  bad(
    "list",
    [
      {
        queue: undefined,
        name: undefined,
        states: undefined,
        metadata: undefined,
        orderBy: undefined,
        order: undefined,
        cursor: undefined,
        limit: undefined,
        ...fields
      }
    ],
    `options.${field}`
  )

const schedules = (fields: Partial<typeof schedule>, field: string, reason?: Reason) =>
  bad("upsertSchedule", [{ ...schedule, ...fields }], `schedule${field}`, reason)

const report = { flowId: "p", childKey: "a", outcome: "completed", exit: 1, failedReason: undefined } as const

const badOthers: ReadonlyArray<Bad> = [
  bad("enqueueMany", [[plain, { ...plain, name: "" }]], "requests[1].name"),
  bad("enqueueMany", [many(plain)], "requests", "LimitExceeded"),
  lists({ queue: "" }, "queue"),
  lists({ name: "" }, "name"),
  lists({ metadata: { a: "\u0000" } }, "metadata.a"),
  lists({ cursor: "" }, "cursor"),
  lists({ limit: 0 }, "limit"),
  lists({ limit: 1.5 }, "limit"),
  bad("counts", [""], "queue"),
  bad("cancelByDedupe", ["", "key"], "name"),
  bad("cancelByDedupe", ["job", ""], "key"),
  schedules({ key: "" }, ".key"),
  schedules({ jobName: "" }, ".jobName"),
  schedules({ queue: "" }, ".queue"),
  schedules({ everyMs: 1 }, ""),
  schedules({ cron: undefined }, ""),
  schedules({ cron: "every monday" }, ".cron"),
  schedules({ tz: "Mars/Phobos" }, ".tz"),
  schedules({ cron: undefined, tz: undefined, everyMs: 0 }, ".everyMs"),
  schedules({ cron: undefined, tz: undefined, everyMs: Infinity }, ".everyMs"),
  schedules({ group: "" }, ".group"),
  schedules({ payload: [undefined] }, ".payload[0]"),
  schedules({ nextRunAt: 8_640_000_000_000_001 }, ".nextRunAt"),
  schedules({ nextRunAt: Number.NaN }, ".nextRunAt"),
  bad("removeSchedule", [""], "key"),
  bad("listSchedules", [{ jobName: "", queue: undefined, group: undefined }], "filter.jobName"),
  bad("listSchedules", [{ jobName: undefined, queue: "", group: undefined }], "filter.queue"),
  bad("listSchedules", [{ jobName: undefined, queue: undefined, group: "" }], "filter.group"),
  bad("tickSchedule", ["key", 0, 1, plain], "request.id"),
  bad("tickSchedule", ["", 0, 1, full], "key"),
  bad("tickSchedule", ["key", Infinity, 1, full], "expectedRunAt"),
  bad("tickSchedule", ["key", 0, -Infinity, full], "nextRunAt"),
  bad("tickSchedule", ["key", 0, 1, { ...full, queue: "" }], "request.queue"),
  bad("advanceSchedule", ["", 0, 1], "key"),
  bad("advanceSchedule", ["key", Number.NaN, 1], "expectedRunAt"),
  bad("advanceSchedule", ["key", 0, Number.NaN], "nextRunAt"),
  bad("recordChildResults", [[{ ...report, flowId: "" }]], "reports[0].flowId"),
  bad("recordChildResults", [[report, { ...report, childKey: "" }]], "reports[1].childKey"),
  bad("recordChildResults", [[{ ...report, exit: [1n] }]], "reports[0].exit[0]"),
  bad("recordChildResults", [[{ ...report, failedReason: "\u0000" }]], "reports[0].failedReason"),
  bad("recordChildResults", [Array.from({ length: 9 }, () => ({ ...report, exit: big }))], "reports", "LimitExceeded"),
  bad("listChildResults", ["", undefined], "flowId"),
  bad("listChildResults", ["p", { cursor: "", limit: undefined }], "options.cursor"),
  bad("listChildResults", ["p", { cursor: undefined, limit: 0 }], "options.limit"),
  bad("flowSweepWork", [{ pendingAgeMs: Number.NaN, limit: undefined }], "options.pendingAgeMs"),
  bad("flowSweepWork", [{ pendingAgeMs: 0, limit: -1 }], "options.limit"),
  bad("markChildrenCascaded", ["", []], "flowId"),
  bad("markChildrenCascaded", ["p", ["a", ""]], "childKeys[1]"),
  bad("peekOutbox", [{ limit: 0, after: undefined }], "options.limit"),
  bad("peekOutbox", [{ limit: 1, after: "" }], "options.after"),
  bad("deleteOutbox", [["o", ""]], "ids[1]"),
  ...(["getJob", "getAttempts", "retry", "cancel", "promote", "remove"] as const).map((name) =>
    bad(name, [long(defaults.idLength)], "id", "LimitExceeded")
  ),
  ...(["pause", "resume"] as const).map((name) => bad(name, [""], "queue"))
]

/** All of them. */
export const badCalls: ReadonlyArray<Bad> = [...badRequests, ...badLeases, ...badOthers]
