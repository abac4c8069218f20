/**
 * How the database carries out the statements of units: row by row through an index, whatever it believes of its tables. Each
 * statement is explained where it is run, among the rows that it meets there.
 */
import { assert, it } from "@effect/vitest"
import {
  type Ack,
  type AckOutcome,
  EnqueueRequest,
  type FlowChildReport,
  type JobStore,
  ScheduleRecord
} from "@jobwire/protocol"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { databaseUrl } from "../../../../test/support/fresh-postgres.ts"
import * as EmbeddedJobStore from "../../src/drivers/embedded/EmbeddedJobStore.ts"
import * as Connections from "../../src/drivers/postgres/Connections.ts"
import type { Row } from "../../src/drivers/postgres/Connections.ts"
import { LaneNumbers } from "../../src/drivers/postgres/LaneNumbers.ts"
import * as UnitStorage from "../../src/drivers/postgres/unit/UnitStorage.ts"
import { type Between, broken } from "./support/broken-sessions.ts"
import { freshUnits } from "./support/units.ts"

interface Plan {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Join Filter"?: string
  readonly "Function Name"?: string
  readonly Plans?: ReadonlyArray<Plan>
}

const nodesOf = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

const hasJoinFilter = (node: Plan): boolean => node["Join Filter"] !== undefined && node["Join Filter"] !== "false"

// A join that compares each row with each is a few rows of the call itself, or a mistake.
const isBad = (node: Plan): boolean =>
  node["Node Type"] === "Materialize" ||
  node["Node Type"] === "Hash Join" ||
  node["Node Type"] === "Merge Join" ||
  (node["Node Type"] === "Seq Scan" && node["Relation Name"] !== undefined) ||
  (hasJoinFilter(node) && node.Plans?.at(-1)?.["Node Type"] !== "Function Scan")

// What EXPLAIN gives is described by PostgreSQL's documentation.
const plansOf = ([value]: Row): ReadonlyArray<Plan> =>
  (value as ReadonlyArray<{ readonly Plan: Plan }>).map(({ Plan }) => Plan)

const isOfTransaction = (sql: string): boolean =>
  ["begin", "commit", "rollback"].includes(sql) || sql.includes("advisory")

/** Explains each statement before it runs, and gathers those that are carried out badly. */
const explaining = (seen: Set<string>, bad: Array<string>): Between => {
  return (sql, run, session, parameters) => {
    if (isOfTransaction(sql) || seen.has(sql)) return run
    seen.add(sql)
    return session.run(`explain (format json, costs off) ${sql}`, parameters).pipe(
      Effect.map((rows) => {
        const nodes = rows.flatMap(plansOf).flatMap(nodesOf)
        if (nodes.some(isBad)) bad.push(`${sql}\n${JSON.stringify(nodes.filter(isBad))}`)
      }),
      Effect.andThen(run)
    )
  }
}

const request = (fields?: Partial<EnqueueRequest>): EnqueueRequest =>
  EnqueueRequest.make({ name: "job", queue: "queue", payload: 1, ...fields })

const rule = { count: 3, ageMs: 1000 }
const keep = { completed: rule, failed: rule, cancelled: rule }

const claimOptions = { queue: "queue", names: ["job"], lockDurationMs: 1000 }

const ids = (prefix: string, length: number): ReadonlyArray<string> => Array.from({ length }, (_, n) => `${prefix}${n}`)

const fail: AckOutcome = { _tag: "Fail", exit: 1 }
const retry: AckOutcome = { _tag: "Retry", delayMs: 0, exit: 1 }

const report = (flowId: string, childKey: string): FlowChildReport => ({
  flowId,
  childKey,
  outcome: "failed",
  exit: 1,
  failedReason: undefined
})

const dedupe = (key: string, replace: boolean) => ({ key, ttlMs: undefined, extend: false, replace })

/** Calls that make units look and write in every way they can. */
const everything = Effect.fnUntraced(function* (store: JobStore.Service) {
  yield* store.enqueueMany(ids("plain", 300).map((id) => request({ id, keep })))
  yield* store.enqueueMany(ids("k", 100).map((key) => request({ delayMs: 10, dedupe: dedupe(key, false) })))
  yield* store.enqueueMany(ids("k", 50).map((key) => request({ delayMs: 20, payload: 2, dedupe: dedupe(key, true) })))
  yield* TestClock.adjust(15)
  const { jobs } = yield* store.claimMany({ ...claimOptions, tokens: ids("t", 100) })
  const acks = (from: number, to: number, outcome: AckOutcome): ReadonlyArray<Ack> =>
    jobs.slice(from, to).map(({ job, token }) => ({ id: job.id, token, outcome }))
  yield* store.ackMany(acks(0, 40, fail))
  yield* store.ackMany(acks(30, 40, fail))
  yield* store.ackMany(acks(40, 60, retry))
  yield* store.ackMany(acks(50, 60, retry))
  const { items } = yield* store.list({ states: ["failed"] })
  for (const { id } of items.slice(0, 2)) yield* store.retry(id)
  for (const { id, token } of acks(60, 70, fail)) yield* store.release(id, token)
  yield* store.extendLocks(acks(70, 80, fail), 5)
  yield* TestClock.adjust(2000)
  yield* store.recoverStalled({ maxStalledCount: 0 })
  yield* store.cancelByDedupe("job", "k99")
  yield* store.remove("plain299")
  yield* store.pause("queue")
  yield* store.resume("queue")
})

/** The same for flows and schedules. */
const flowsAndSchedules = Effect.fnUntraced(function* (store: JobStore.Service) {
  const parents = ids("parent", 4)
  const parent = { flowName: "f", flowId: "x", childKey: "y", parentStoreKey: "s", depth: 1 }
  yield* store.enqueueMany(parents.map((id) => request({ id, queue: "flows", parent, keep })))
  yield* store.claimMany({ ...claimOptions, queue: "flows", tokens: parents })
  const children = ids("c", 200).map((childKey) => ({ childKey, storeKey: "s", request: request({ id: childKey }) }))
  for (const id of parents) yield* store.ack(id, id, { _tag: "FanOut", failFast: id === "parent1", children })
  yield* store.recordChildResults(parents.flatMap((id) => ids("c", 50).map((key) => report(id, key))))
  const { cascade } = yield* store.flowSweepWork({ pendingAgeMs: 0, limit: 150 })
  for (const { children, flowId } of cascade) {
    yield* store.markChildrenCascaded(
      flowId,
      children.map(({ childKey }) => childKey)
    )
  }
  yield* store.cancel("parent2")
  yield* store.remove("parent2")
  yield* store.listChildResults("parent0")
  yield* store.deleteOutbox((yield* store.peekOutbox({ limit: 2 })).map(({ id }) => id))
  const schedules = ids("s", 100).map((key) =>
    ScheduleRecord.make({ key, jobName: "job", queue: "queue", everyMs: 1, nextRunAt: 0, payload: null })
  )
  for (const schedule of schedules) yield* store.upsertSchedule(schedule)
  yield* store.tickSchedule("s1", 0, 1, request({ id: "tick" }))
  yield* store.removeSchedule("s2")
  yield* store.dueSchedules()
})

it.effect("goes from row to row by an index", () =>
  Effect.gen(function* () {
    const { number, store } = yield* freshUnits
    const connections = yield* Connections.make({ url: databaseUrl() })
    const seen = new Set<string>()
    const bad: Array<string> = []
    const storage = yield* UnitStorage.make(
      { write: broken(connections.hot, explaining(seen, bad)), read: connections.calm },
      { number, lanes: new LaneNumbers() }
    )
    const units = yield* EmbeddedJobStore.make(storage)
    // Lists are statements of their own.
    const service = { ...units, list: store.list }
    yield* everything(service)
    yield* flowsAndSchedules(service)
    assert.deepStrictEqual(bad, [])
    assert.isAtLeast(seen.size, 30)
  })
)
