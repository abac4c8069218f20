/** Calls and answers of every operation, with fields that are there, absent and null. */
import {
  type Arguments,
  EnqueueRequest,
  type FlowChildSpec,
  JobNotFoundError,
  type JobRecord,
  JobStoreError,
  LockLostError,
  type OperationName,
  type ScheduleRecord,
  type Success
} from "@jobwire/protocol"
import { Option } from "effect"

/** A request with nothing but the least, and one with everything. */
export const plain: EnqueueRequest = EnqueueRequest.make({ name: "job", queue: "queue" })

export const full: EnqueueRequest = {
  id: "id",
  name: "job",
  queue: "queue",
  payload: { list: [1, null, "ü"], nothing: null },
  metadata: { tenant: "a", empty: "" },
  priority: -2_147_483_648,
  attemptsMax: 2_147_483_647,
  backoff: { _tag: "exponential", delayMs: 0.5, factor: undefined },
  keep: { completed: { count: 0, ageMs: undefined }, failed: undefined, cancelled: { count: undefined, ageMs: 1.5 } },
  timeoutMs: 1,
  dedupe: { key: "key", ttlMs: 10, extend: true, replace: true },
  trace: { traceId: "t", spanId: "", sampled: false, delayed: true },
  parent: { flowName: "f", flowId: "p", childKey: "c", parentStoreKey: "s", depth: 1 },
  delayMs: -1
}

const record: JobRecord = {
  id: "id",
  name: "job",
  queue: "queue",
  payload: undefined,
  metadata: {},
  state: "waiting",
  priority: 0,
  attemptsMax: 1,
  attemptsMade: 0,
  stalledCount: 0,
  backoff: undefined,
  keep: undefined,
  timeoutMs: undefined,
  cancelRequested: false,
  dedupeKey: undefined,
  trace: undefined,
  parent: undefined,
  flow: undefined,
  runAt: 1_750_000_000_000,
  enqueuedAt: 1_750_000_000_000,
  processedAt: undefined,
  finishedAt: undefined,
  exit: undefined,
  failedReason: undefined
}

const settled: JobRecord = {
  ...record,
  payload: null,
  state: "failed",
  backoff: { _tag: "fixed", delayMs: 5, factor: 2 },
  keep: { completed: undefined, failed: { count: 1, ageMs: 2 }, cancelled: undefined },
  dedupeKey: "key",
  trace: { traceId: "t", spanId: "s", sampled: true, delayed: false },
  parent: { flowName: "f", flowId: "p", childKey: "c", parentStoreKey: "s", depth: 2 },
  flow: { failFast: true, pending: 0, completed: 1, failed: 2, cancelled: 3 },
  processedAt: 0,
  finishedAt: 8_640_000_000_000_000,
  exit: null,
  failedReason: ""
}

export const child: FlowChildSpec = { childKey: "a", storeKey: "default", request: full }

export const schedule: ScheduleRecord = {
  key: "schedule",
  jobName: "job",
  queue: "queue",
  cron: "*/5 * * * *",
  tz: "Europe/Berlin",
  everyMs: undefined,
  payload: [0],
  metadata: {},
  priority: 1,
  attemptsMax: 3,
  backoff: undefined,
  keep: undefined,
  timeoutMs: undefined,
  group: "group",
  nextRunAt: 0
}

const every: ScheduleRecord = {
  ...schedule,
  cron: undefined,
  tz: undefined,
  everyMs: 1,
  payload: null,
  group: undefined
}

const counts = {
  waiting: 1,
  delayed: 2,
  active: 3,
  "waiting-children": 4,
  completed: 5,
  failed: 6,
  cancelled: 7
}

const attempts = [
  { attempt: 1, startedAt: 1, finishedAt: 2, outcome: "retried", exit: { a: null } },
  { attempt: 2, startedAt: undefined, finishedAt: 2, outcome: "cancelled", exit: undefined },
  { attempt: 3, startedAt: 0, finishedAt: 0, outcome: "fanned-out", exit: null }
] as const

const reports = [
  { flowId: "p", childKey: "a", outcome: "completed", exit: null, failedReason: undefined },
  { flowId: "p", childKey: "b", outcome: "failed", exit: undefined, failedReason: "no" }
] as const

const rows = [
  {
    flowId: "p",
    childKey: "a",
    name: "job",
    storeKey: "s",
    childJobId: "c",
    status: "pending",
    exit: undefined,
    failedReason: undefined,
    cascaded: false
  },
  {
    flowId: "p",
    childKey: "b",
    name: "job",
    storeKey: "s",
    childJobId: "d",
    status: "failed",
    exit: [],
    failedReason: "no",
    cascaded: true
  }
] as const

/** Good calls, and answers that fit, by operation. */
export const samples: {
  readonly [Name in OperationName]: {
    readonly calls: ReadonlyArray<Arguments<Name>>
    readonly answers: ReadonlyArray<Success<Name>>
  }
} = {
  enqueue: { calls: [[plain], [full]], answers: [{ id: "id", duplicate: false }] },
  enqueueMany: { calls: [[[]], [[plain, full]]], answers: [[], [{ id: "id", duplicate: true }]] },
  claim: {
    calls: [
      [{ queue: "queue", names: [], token: "t", lockDurationMs: 0 }],
      [{ queue: "queue", names: ["job", "other"], token: "t", lockDurationMs: 0.5 }]
    ],
    answers: [
      { _tag: "Claimed", job: settled },
      { _tag: "Empty", nextRunAt: undefined, wakeToken: "w" },
      { _tag: "Empty", nextRunAt: 0, wakeToken: "w" }
    ]
  },
  claimMany: {
    calls: [
      [{ queue: "queue", names: ["job"], tokens: ["t"], lockDurationMs: 0 }],
      [{ queue: "queue", names: [], tokens: ["t", "u"], lockDurationMs: 0.5 }]
    ],
    answers: [
      { jobs: [], empty: { nextRunAt: undefined, wakeToken: "w" } },
      { jobs: [{ token: "t", job: settled }], empty: { nextRunAt: 0, wakeToken: "w" } },
      {
        jobs: [
          { token: "t", job: record },
          { token: "u", job: settled }
        ],
        empty: undefined
      }
    ]
  },
  ack: {
    calls: [
      ["id", "t", { _tag: "Complete", exit: undefined }],
      ["id", "t", { _tag: "Complete", exit: null }],
      ["id", "t", { _tag: "Fail", exit: { error: ["deep"] } }],
      ["id", "t", { _tag: "Retry", delayMs: -0.5, exit: false }],
      ["id", "t", { _tag: "Cancelled" }],
      ["id", "t", { _tag: "FanOut", failFast: true, children: [child, { ...child, childKey: "b" }] }],
      ["id", "t", { _tag: "FanOut", failFast: false, children: [] }]
    ],
    answers: [undefined]
  },
  ackMany: {
    calls: [
      [[]],
      [
        [
          { id: "id", token: "t", outcome: { _tag: "Complete", exit: null } },
          { id: "id", token: "u", outcome: { _tag: "Retry", delayMs: 1, exit: undefined } },
          { id: "p", token: "t", outcome: { _tag: "FanOut", failFast: false, children: [child] } }
        ]
      ]
    ],
    answers: [
      [],
      [
        { _tag: "Acked" },
        new LockLostError({ jobId: "id" }),
        new JobNotFoundError({ jobId: "id" }),
        new JobStoreError({ message: "m", reason: { _tag: "LimitExceeded", field: "f", limit: 1, size: 2 } })
      ]
    ]
  },
  release: { calls: [["id", "t"]], answers: [undefined] },
  extendLocks: {
    calls: [
      [[], 0],
      [[{ id: "id", token: "t" }], 1_000]
    ],
    answers: [
      { lost: [], cancelRequested: [] },
      { lost: ["a"], cancelRequested: ["b", "c"] }
    ]
  },
  recoverStalled: { calls: [[{ maxStalledCount: 0 }]], answers: [[], [{ id: "id", failed: true }]] },
  awaitWake: { calls: [[["queue"], "w"]], answers: [undefined] },
  getJob: { calls: [["id"]], answers: [Option.none(), Option.some(record), Option.some(settled)] },
  getAttempts: { calls: [["id"]], answers: [[], attempts] },
  list: {
    calls: [
      [
        {
          queue: undefined,
          name: undefined,
          states: undefined,
          metadata: undefined,
          orderBy: undefined,
          order: undefined,
          cursor: undefined,
          limit: undefined
        }
      ],
      [
        {
          queue: "queue",
          name: "job",
          states: [],
          metadata: { a: "" },
          orderBy: "finishedAt",
          order: "asc",
          cursor: "c",
          limit: 1
        }
      ]
    ],
    answers: [
      { items: [], cursor: undefined },
      { items: [record, settled], cursor: "c" }
    ]
  },
  counts: { calls: [[undefined], ["queue"]], answers: [counts] },
  retry: { calls: [["id"]], answers: [undefined] },
  cancel: { calls: [["id"]], answers: [undefined] },
  cancelByDedupe: { calls: [["job", "key"]], answers: [true, false] },
  promote: { calls: [["id"]], answers: [undefined] },
  remove: { calls: [["id"]], answers: [true, false] },
  pause: { calls: [["queue"]], answers: [undefined] },
  resume: { calls: [["queue"]], answers: [undefined] },
  pausedQueues: { calls: [[]], answers: [[], ["a", "b"]] },
  upsertSchedule: { calls: [[schedule], [every]], answers: [undefined] },
  removeSchedule: { calls: [["schedule"]], answers: [true, false] },
  listSchedules: {
    calls: [[undefined], [{ jobName: undefined, queue: undefined, group: "group" }]],
    answers: [[], [schedule, every]]
  },
  dueSchedules: { calls: [[]], answers: [[every]] },
  tickSchedule: { calls: [["schedule", 0, 8_640_000_000_000_000, full]], answers: [true, false] },
  advanceSchedule: { calls: [["schedule", -1, 1]], answers: [undefined] },
  recordChildResults: {
    calls: [[[]], [reports]],
    answers: [[], [{ applied: true, parentSettled: false }]]
  },
  listChildResults: {
    calls: [
      ["p", undefined],
      ["p", { cursor: undefined, limit: undefined }],
      ["p", { cursor: "c", limit: 5 }]
    ],
    answers: [
      { items: [], cursor: undefined },
      { items: rows, cursor: "c" }
    ]
  },
  flowSweepWork: {
    calls: [[{ pendingAgeMs: 0, limit: undefined }], [{ pendingAgeMs: 60_000, limit: 10 }]],
    answers: [
      { reconcile: [], cascade: [] },
      {
        reconcile: [{ flowId: "p", children: [child] }],
        cascade: [{ flowId: "q", children: [{ childKey: "a", storeKey: "s", childJobId: "c" }] }]
      }
    ]
  },
  markChildrenCascaded: {
    calls: [
      ["p", []],
      ["p", ["a", "b"]]
    ],
    answers: [undefined]
  },
  peekOutbox: {
    calls: [[{ limit: 1, after: undefined }], [{ limit: 10, after: "o" }]],
    answers: [[], [{ id: "o", flowName: "f", parentStoreKey: "s", report: reports[0] }]]
  },
  deleteOutbox: { calls: [[[]], [["o", "p"]]], answers: [undefined] }
}
