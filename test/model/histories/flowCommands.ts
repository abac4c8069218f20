/** Commands about flows, the outbox and schedules. */
import type { FlowChildReport } from "@jobwire/protocol"
import * as fc from "fast-check"
import { claim, end } from "./jobCommands.ts"
import { command, type Kind, kind, sequence } from "./kinds.ts"
import { find } from "../state.ts"
import * as Values from "./values.ts"
import {
  childKeys,
  type Command,
  ids,
  jobRef,
  onJob,
  pick,
  position,
  rowsOf,
  scheduleGroups,
  scheduleKeys,
  type World
} from "./world.ts"

// Mostly of a row that is pending; or of any; or of one that there is none of.
const reportDraft = fc.record({
  of: fc.oneof(
    { weight: 8, arbitrary: fc.constant("pending" as const) },
    { weight: 1, arbitrary: fc.constant("any" as const) },
    { weight: 1, arbitrary: fc.constant("none" as const) }
  ),
  at: position,
  outcome: fc.constantFrom("completed" as const, "failed" as const, "cancelled" as const),
  exit: Values.exit,
  failedReason: Values.seldom(fc.constant("broken"), 3)
})
type ReportDraft = typeof reportDraft extends fc.Arbitrary<infer A> ? A : never

const reportOf = (world: World, { at, of, ...end }: ReportDraft): ReadonlyArray<FlowChildReport> => {
  if (of === "none") return [{ flowId: pick(ids, at) ?? "a", childKey: pick(childKeys, at) ?? "x", ...end }]
  const rows = rowsOf(world).filter(({ child }) => of === "any" || child.status === "pending")
  const row = pick(rows, at)
  return row === undefined ? [] : [{ flowId: row.flowId, childKey: row.child.childKey, ...end }]
}

// What the relay does: it enqueues children, and carries their ends back.
const enqueueChild = command(position, (world, at) => {
  const isThere = (id = "") => find(world.state, id) !== undefined
  const rows = rowsOf(world)
  const fresh = rows.filter(({ child }) => child.status === "pending" && !isThere(child.request.id))
  const row = pick(fresh.length > 0 ? fresh : rows, at)
  return row === undefined ? undefined : { name: "enqueue", args: [row.child.request] }
})

/** Carrying reports from the outbox to their parents. */
export const carry = command(fc.integer({ min: 1, max: 3 }), (world, length) => {
  const isAwaited = ({ childKey, flowId }: FlowChildReport) =>
    rowsOf(world).some((row) => row.flowId === flowId && row.child.childKey === childKey)
  const reports = world.state.outbox.filter(({ deleted }) => !deleted).map(({ entry }) => entry.report)
  const awaited = reports.filter(isAwaited)
  const carried = (awaited.length > 0 ? awaited : reports).slice(0, length)
  return carried.length === 0 ? undefined : { name: "recordChildResults", args: [carried] }
})

/** Reports of children. */
export const report = command(fc.array(reportDraft, { maxLength: 4 }), (world, drafts) => {
  const reports = drafts.flatMap((draft) => reportOf(world, draft))
  return reports.length === 0 && drafts.length > 0 ? undefined : { name: "recordChildResults", args: [reports] }
})

const parent = command(Values.request({ keyed: 1, children: 7 }), (_world, request) => ({
  name: "enqueue",
  args: [{ ...request, delayMs: 0 }]
}))

/** Jobs that fan out, and children that run. */
export const families: ReadonlyArray<Kind> = [
  sequence(8, parent, claim, end(Values.fanOut)),
  sequence(3, parent, claim, end(Values.fanOut), report, claim, end(Values.outcomeDraft(2))),
  sequence(6, enqueueChild, claim, end(Values.outcomeDraft(0)), carry)
]

/** Reports, rows and sweeps. */
export const flows: ReadonlyArray<Kind> = [
  sequence(9, report),
  sequence(4, enqueueChild),
  sequence(4, carry),
  kind(3, fc.tuple(jobRef("waiting-children"), Values.seldom(fc.constantFrom(1, 2), 2)), (world, [job, limit]) => {
    const options = limit === undefined ? undefined : { limit }
    return onJob((id) => ({ name: "listChildResults", args: [id, options] }))(world, job)
  }),
  kind(4, fc.tuple(position, fc.constantFrom(undefined, 1, 2)), ({ state }, [at, limit]) => {
    const page = pick(state.childCursors, at)
    return page === undefined
      ? undefined
      : { name: "listChildResults", args: [page.flowId, { cursor: page.cursor, limit }] }
  }),
  kind(
    3,
    fc.record({ pendingAgeMs: fc.constantFrom(0, 1, 5, 20, 0.5, -1), limit: Values.seldom(fc.constantFrom(1, 2), 2) }),
    (_world, options) => ({ name: "flowSweepWork", args: [options] })
  ),
  kind(3, fc.tuple(position, fc.subarray([...childKeys])), (world, [at, keys]) => {
    const rows = rowsOf(world)
    const owed = rows.filter(({ child }) => child.status === "cancelled" && !child.cascaded)
    const row = pick(owed.length > 0 ? owed : rows, at)
    return row === undefined ? undefined : { name: "markChildrenCascaded", args: [row.flowId, keys] }
  })
]

const idsOf = ({ state }: World) => state.outbox.flatMap(({ id }) => (id === undefined ? [] : [id]))

const peek = (limit: number): fc.Arbitrary<Command> =>
  command(
    fc.record({ after: fc.constantFrom("none", "some", "some", "unknown"), at: position }),
    (world, { after, at }) => {
      const known = after === "some" ? pick(idsOf(world), at) : after === "unknown" ? "no entry's id" : undefined
      return { name: "peekOutbox", args: [{ limit, after: known }] }
    }
  )

const deliver = command(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean()), (world, [length, unknown]) => {
  const known = idsOf(world).slice(0, length)
  return known.length === 0
    ? undefined
    : { name: "deleteOutbox", args: [unknown ? [...known, "no entry's id"] : known] }
})

/** The outbox. */
export const outbox: ReadonlyArray<Kind> = [
  sequence(2, peek(1)),
  sequence(2, peek(2)),
  sequence(2, peek(100)),
  sequence(2, deliver),
  sequence(4, peek(100), deliver, peek(100))
]

/** A tick of a schedule. */
export const tick = command(fc.tuple(Values.scheduleRef, Values.identified), (world, [ref, request]) => {
  if (world.state.schedules.length === 0 && ref.off === 0) return undefined
  const { expectedRunAt, key, nextRunAt } = Values.tickOf(world, ref)
  return { name: "tickSchedule", args: [key, expectedRunAt, nextRunAt, request] }
})

/** Schedules and their ticks. */
export const schedules: ReadonlyArray<Kind> = [
  kind(3, Values.schedule, ({ now }, { inMs, record }) => ({
    name: "upsertSchedule",
    args: [{ ...record, nextRunAt: now + inMs }]
  })),
  kind(1, fc.constantFrom(...scheduleKeys), (_world, key) => ({ name: "removeSchedule", args: [key] })),
  kind(
    1,
    Values.seldom(
      fc.record({
        jobName: Values.seldom(Values.name, 2),
        queue: Values.seldom(Values.queue, 2),
        group: Values.seldom(fc.constantFrom(...scheduleGroups), 2)
      }),
      2
    ),
    (_world, filter) => ({ name: "listSchedules", args: [filter] })
  ),
  kind(1, fc.constant(undefined), () => ({ name: "dueSchedules", args: [] })),
  sequence(4, tick),
  kind(1, Values.scheduleRef, (world, ref) => {
    const { expectedRunAt, key, nextRunAt } = Values.tickOf(world, ref)
    return { name: "advanceSchedule", args: [key, expectedRunAt, nextRunAt] }
  })
]
