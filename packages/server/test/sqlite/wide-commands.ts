/** Random calls with everything a row can hold, and all ways to look at it: what the general histories leave out. */
import { EnqueueRequest, type JobState, type JobStore, type ListOptions, ScheduleRecord } from "@jobwire/protocol"
import { Effect } from "effect"
import * as fc from "fast-check"
import type { Command } from "../embedded/commands.ts"

// In the order of code points the last is behind the one before; in the order of UTF-16 units it is the other way round.
const id = fc.constantFrom("a", "b", "c", "Z", "é", "\uffee", "\u{1f600}")
const queue = fc.constantFrom("q1", "q2")
const name = fc.constantFrom("n1", "n2")
const key = fc.constantFrom("s1", "s2", "\u{1f600}")
const moment = fc.constantFrom(0, 10, 20)

const maybe = <A>(value: fc.Arbitrary<A>) => fc.option(value, { nil: undefined })

const metadata = fc.constantFrom<Record<string, string>>({}, { tenant: "x" }, { tenant: "y", "a.b": "" })
const payload = fc.constantFrom(undefined, null, 0, "text \u{1f600}", [{ deep: [null, true] }])
const backoff = fc.record({
  _tag: fc.constantFrom("fixed" as const, "exponential" as const),
  delayMs: fc.constantFrom(0, 1.5),
  factor: maybe(fc.constant(3))
})
const rule = fc.record({ count: maybe(fc.nat({ max: 2 })), ageMs: maybe(moment) })
const keep = fc.record({ completed: maybe(rule), failed: maybe(rule), cancelled: maybe(rule) })

const shared = {
  queue,
  payload,
  metadata,
  priority: fc.constantFrom(-2_147_483_648, 0, 2_147_483_647),
  attemptsMax: fc.nat({ max: 3 }),
  backoff: maybe(backoff),
  keep: maybe(keep),
  timeoutMs: maybe(fc.constantFrom(0.5, 1000))
}

const request = fc
  .record({
    ...shared,
    id,
    name,
    delayMs: fc.constantFrom(0, 0, 7, 3_155_760_000_000),
    dedupe: maybe(fc.constant({ key: "k1", ttlMs: undefined, extend: false, replace: true })),
    trace: maybe(fc.constant({ traceId: "", spanId: "s", sampled: true, delayed: false })),
    parent: maybe(
      fc.record({
        flowName: fc.constant("flow"),
        flowId: id,
        childKey: key,
        parentStoreKey: fc.constant("store"),
        depth: fc.constant(2)
      })
    )
  })
  .map((fields) => EnqueueRequest.make(fields))

const schedule = fc
  .record({
    ...shared,
    key,
    jobName: name,
    everyMs: fc.constantFrom(1, 2.5),
    group: maybe(fc.constant("g")),
    nextRunAt: moment
  })
  .map((fields) => ScheduleRecord.make(fields))

const states: ReadonlyArray<JobState> = ["waiting", "delayed", "active", "completed", "failed", "cancelled"]

const listOptions: fc.Arbitrary<ListOptions> = fc.record({
  queue: maybe(queue),
  name: maybe(name),
  states: maybe(fc.subarray([...states])),
  metadata: maybe(fc.constantFrom({ tenant: "x" }, {})),
  orderBy: fc.constantFrom("enqueuedAt" as const, "runAt" as const, "finishedAt" as const),
  order: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.constantFrom(1, 3, 100)
})

/** All jobs of a list, page by page. */
export const listAll = Effect.fnUntraced(function* (store: JobStore.Service, options: ListOptions) {
  const items: Array<unknown> = []
  let cursor: string | undefined
  do {
    const page = yield* store.list({ ...options, cursor })
    items.push(...page.items)
    cursor = page.cursor
  } while (cursor !== undefined)
  return items
})

// Entries are numbered by each store in its own way.
const deliver = Effect.fnUntraced(function* (store: JobStore.Service) {
  const entries = yield* store.peekOutbox({ limit: 3 })
  yield* store.deleteOutbox(entries.slice(0, 2).map((entry) => entry.id))
  return entries.map(({ flowName, parentStoreKey, report }) => ({ flowName, parentStoreKey, report }))
})

const command = <A>(
  title: string,
  input: fc.Arbitrary<A>,
  run: (store: JobStore.Service, input: A) => Effect.Effect<unknown, unknown>
): fc.Arbitrary<Command> =>
  input.map((value) => ({
    name: title,
    run: (store) => run(store, value),
    toString: () => `${title} ${JSON.stringify(value)}`
  }))

/** Any of these calls. */
export const wideCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: command("wide enqueue", request, (store, value) => store.enqueue(value)) },
  { weight: 3, arbitrary: command("list", listOptions, listAll) },
  command("getJob", id, (store, value) => store.getJob(value)),
  command("getAttempts", id, (store, value) => store.getAttempts(value)),
  command("counts", maybe(queue), (store, value) => store.counts(value)),
  command("listChildResults", id, (store, value) => store.listChildResults(value)),
  command("deliver", fc.constant(undefined), deliver),
  command("pausedQueues", fc.constant(undefined), (store) => store.pausedQueues()),
  command("upsertSchedule", schedule, (store, value) => store.upsertSchedule(value)),
  command("removeSchedule", key, (store, value) => store.removeSchedule(value)),
  command("listSchedules", fc.record({ jobName: maybe(name), group: maybe(fc.constant("g")) }), (store, filter) =>
    store.listSchedules(filter)
  ),
  command("dueSchedules", fc.constant(undefined), (store) => store.dueSchedules()),
  command("tickSchedule", fc.tuple(key, moment, moment, request), (store, args) => store.tickSchedule(...args))
)
