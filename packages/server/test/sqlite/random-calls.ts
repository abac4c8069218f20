/** Random calls of all operations, over few names and keys, so that they meet. */
import {
  type AckOutcome,
  EnqueueRequest,
  type JobState,
  type JobStore,
  type JobStoreError,
  type ListOptions,
  ScheduleRecord
} from "@jobwire/protocol"
import { Effect } from "effect"

/** A source of numbers below a limit; the same seed gives the same ones. */
export type Draw = (below: number) => number

export const drawFrom = (seed: number): Draw => {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const queues = ["a", "b"]
const names = ["mail", "pdf", "\u{1f4e7}"]
// In the order of code points the last is beyond the one before; in the order of UTF-16 units it is the other way round.
const prefixes = ["", "Z", "z", "é", "\uffee", "\u{1f600}"]
const states: ReadonlyArray<JobState> = [
  "waiting",
  "delayed",
  "active",
  "waiting-children",
  "completed",
  "failed",
  "cancelled"
]

/** One call: it knows what earlier calls answered, as long as those are the same on every store. */
export interface Call {
  readonly name: string
  readonly run: (store: JobStore.Service) => Effect.Effect<unknown, unknown>
}

/** Draws calls. Everything is drawn before a call runs, so that two stores get the same. */
export class Calls {
  readonly #draw: Draw
  #jobs = 0
  #tokens = 0
  readonly #ids: Array<string> = []

  constructor(draw: Draw) {
    this.#draw = draw
  }

  #pick<A>(items: ReadonlyArray<A>): A {
    // The index is in range of a list that is not empty.
    return items[this.#draw(items.length)] as A
  }

  #maybe<A>(chance: number, value: () => A): A | undefined {
    return this.#draw(chance) === 0 ? value() : undefined
  }

  #newId(): string {
    const id = `${this.#pick(prefixes)}job-${this.#jobs++}`
    this.#ids.push(id)
    return id
  }

  #id(): string {
    return this.#ids.length === 0 ? "none" : this.#pick(this.#ids.slice(-60))
  }

  #request(): EnqueueRequest {
    return EnqueueRequest.make({
      id: this.#draw(8) === 0 ? this.#id() : this.#newId(),
      name: this.#pick(names),
      queue: this.#pick(queues),
      payload: this.#pick([undefined, null, 1, "text", { n: [1, { deep: null }] }]),
      metadata: this.#pick([{}, {}, { tenant: "x" }, { tenant: "y", __proto__x: "1" }]),
      priority: this.#draw(3) - 1,
      attemptsMax: 1 + this.#draw(3),
      delayMs: this.#pick([0, 0, 0, 40, 300]),
      timeoutMs: this.#maybe(4, () => 1.5),
      backoff: this.#maybe(3, () => ({ _tag: "fixed" as const, delayMs: 10, factor: undefined })),
      keep: this.#maybe(3, () => ({
        completed: { count: this.#draw(4), ageMs: undefined },
        failed: this.#maybe(2, () => ({ count: undefined, ageMs: 200 })),
        cancelled: undefined
      })),
      dedupe: this.#maybe(4, () => ({
        key: this.#pick(["k1", "k2"]),
        ttlMs: this.#maybe(2, () => 100),
        extend: this.#draw(2) === 0,
        replace: this.#draw(2) === 0
      })),
      trace: this.#maybe(5, () => ({ traceId: "t", spanId: "s", sampled: true, delayed: false })),
      parent: this.#maybe(4, () => ({
        flowName: "flow",
        flowId: this.#id(),
        childKey: "child",
        parentStoreKey: "default",
        depth: 1
      }))
    })
  }

  #outcome(): AckOutcome {
    const exit = this.#pick([undefined, null, { ok: true }])
    switch (this.#draw(6)) {
      case 0:
        return { _tag: "Fail", exit }
      case 1:
        return { _tag: "Retry", delayMs: this.#pick([0, 50]), exit }
      case 2:
        return { _tag: "Cancelled" }
      case 3:
        return {
          _tag: "FanOut",
          failFast: this.#draw(2) === 0,
          children: prefixes.slice(0, this.#draw(prefixes.length)).map((prefix) => ({
            childKey: `${prefix}child`,
            storeKey: "default",
            request: EnqueueRequest.make({ id: `/${prefix}`, name: "mail", queue: "a" })
          }))
        }
      default:
        return { _tag: "Complete", exit }
    }
  }

  // A claim and mostly its end, in one call, since the token is known here only.
  #run(): Call {
    const token = this.#draw(6) === 0 ? "shared" : `token-${this.#tokens++}`
    const options = {
      queue: this.#pick(queues),
      names: names.filter(() => this.#draw(3) > 0),
      token,
      lockDurationMs: 100
    }
    const end = this.#draw(7)
    const draft = this.#outcome()
    return {
      name: `claim ${JSON.stringify(options)} and ${end === 0 ? "keep" : end === 1 ? "release" : draft._tag}`,
      run: (store) =>
        Effect.gen(function* () {
          const claimed = yield* store.claim(options)
          if (claimed._tag === "Empty") return claimed.nextRunAt
          const { id } = claimed.job
          if (end === 1) yield* store.release(id, token)
          else if (end > 1) yield* store.ack(id, token, withId(draft, id))
          return claimed.job
        })
    }
  }

  #flow(): Call {
    const pick = this.#draw(1000)
    const reports = prefixes
      .filter(() => this.#draw(3) === 0)
      .map((prefix) => ({
        childKey: `${prefix}child`,
        outcome: this.#pick(["completed", "failed", "cancelled"] as const),
        exit: this.#pick([undefined, null, 7]),
        failedReason: this.#maybe(2, () => "because")
      }))
    const keys = reports.map(({ childKey }) => childKey)
    const calls: ReadonlyArray<Call> = [
      { name: "flowSweepWork", run: (store) => store.flowSweepWork({ pendingAgeMs: 50, limit: 5 }) },
      {
        name: `markChildrenCascaded ${keys}`,
        run: (store) => Effect.flatMap(anyParent(store, pick), (id) => store.markChildrenCascaded(id, keys))
      },
      { name: "deliver", run: deliver },
      {
        name: `recordChildResults ${JSON.stringify(reports)}`,
        run: (store) =>
          Effect.flatMap(anyParent(store, pick), (flowId) =>
            store.recordChildResults(reports.map((report) => Object.assign({ flowId }, report)))
          )
      },
      {
        name: "listChildResults",
        run: (store) => Effect.flatMap(anyParent(store, pick), (id) => store.listChildResults(id, { limit: 3 }))
      }
    ]
    return this.#pick(calls)
  }

  #schedule(): Call {
    const key = this.#pick(["s1", "s2", "s3"])
    const at = this.#draw(5) * 100
    const schedule = ScheduleRecord.make({
      key,
      jobName: this.#pick(names),
      queue: this.#pick(queues),
      everyMs: 100 + this.#draw(2),
      nextRunAt: at,
      keep: this.#maybe(2, () => ({
        completed: { count: 1, ageMs: undefined },
        failed: undefined,
        cancelled: undefined
      })),
      group: this.#maybe(2, () => "g")
    })
    const request = { ...this.#request(), id: this.#newId() }
    switch (this.#draw(5)) {
      case 0:
        return { name: "upsertSchedule", run: (store) => store.upsertSchedule(schedule) }
      case 1:
        return { name: "removeSchedule", run: (store) => store.removeSchedule(key) }
      case 2:
        return { name: "dueSchedules", run: (store) => store.dueSchedules() }
      case 3:
        return { name: "listSchedules", run: (store) => store.listSchedules({ group: schedule.group }) }
      default:
        return { name: "tickSchedule", run: (store) => store.tickSchedule(key, at, at + 100, request) }
    }
  }

  #hand(): Call {
    const id = this.#id()
    const queue = this.#pick(queues)
    const jobName = this.#pick(names)
    const calls: ReadonlyArray<Call> = [
      { name: `cancel ${id}`, run: (store) => store.cancel(id) },
      { name: `retry ${id}`, run: (store) => store.retry(id) },
      { name: `promote ${id}`, run: (store) => store.promote(id) },
      { name: `remove ${id}`, run: (store) => store.remove(id) },
      { name: "cancelByDedupe", run: (store) => store.cancelByDedupe(jobName, "k1") },
      { name: `pause ${queue}`, run: (store) => store.pause(queue) },
      { name: `resume ${queue}`, run: (store) => store.resume(queue) },
      { name: "recoverStalled", run: (store) => store.recoverStalled({ maxStalledCount: 1 }) },
      { name: "extendLocks", run: (store) => store.extendLocks([{ id, token: "shared" }], 150) },
      { name: `getAttempts ${id}`, run: (store) => store.getAttempts(id) }
    ]
    return this.#pick(calls)
  }

  /** The next call. */
  next(): Call {
    const kind = this.#draw(20)
    if (kind < 7) {
      const request = this.#request()
      return { name: `enqueue ${JSON.stringify(request)}`, run: (store) => store.enqueue(request) }
    }
    if (kind < 12) return this.#run()
    if (kind < 14) return this.#flow()
    if (kind < 15) return this.#schedule()
    if (kind < 16) {
      const options = this.listOptions()
      return { name: `list ${JSON.stringify(options)}`, run: (store) => listAll(store, options) }
    }
    return this.#hand()
  }

  /** Options of a list. */
  listOptions(): ListOptions {
    return {
      queue: this.#maybe(2, () => this.#pick(queues)),
      name: this.#maybe(3, () => this.#pick(names)),
      states: this.#maybe(2, () => states.filter(() => this.#draw(2) === 0)),
      metadata: this.#maybe(4, () => ({ tenant: "x" })),
      orderBy: this.#pick(["enqueuedAt", "runAt", "finishedAt", undefined]),
      order: this.#pick(["asc", "desc", undefined]),
      limit: this.#pick([1, 3, 7, 100])
    }
  }
}

const withId = (outcome: AckOutcome, id: string): AckOutcome =>
  outcome._tag !== "FanOut"
    ? outcome
    : {
        ...outcome,
        children: outcome.children.map((child) => ({
          childKey: child.childKey,
          storeKey: child.storeKey,
          request: { ...child.request, id: `${id}${child.request.id}` }
        }))
      }

// One of the jobs that have fanned out, which only the store knows.
const anyParent = (store: JobStore.Service, pick: number): Effect.Effect<string, JobStoreError> =>
  Effect.map(store.list({ limit: 1000 }), ({ items }) => {
    const parents = items.filter(({ flow }) => flow !== undefined)
    return parents[pick % Math.max(1, parents.length)]?.id ?? "no-parent"
  })

// Entries are numbered by each store in its own way.
const deliver = (store: JobStore.Service): Effect.Effect<unknown, JobStoreError> =>
  Effect.gen(function* () {
    const entries = yield* store.peekOutbox({ limit: 3 })
    yield* store.deleteOutbox(entries.slice(0, 2).map(({ id }) => id))
    return entries.map(({ id: _id, ...entry }) => entry)
  })

/** All pages of a list. */
export const listAll = (
  store: JobStore.Service,
  options: ListOptions
): Effect.Effect<ReadonlyArray<unknown>, JobStoreError> =>
  Effect.gen(function* () {
    const items: Array<unknown> = []
    let cursor: string | undefined
    do {
      const page = yield* store.list({ ...options, cursor })
      items.push(...page.items)
      cursor = page.cursor
    } while (cursor !== undefined)
    return items
  })
