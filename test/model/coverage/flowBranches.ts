/** What may happen to flows, the outbox, schedules and lists. */
import type { OperationName } from "@jobwire/protocol"
import type { Child, Job } from "../state.ts"
import { type Branch, type Branches, changes, is, of, says, type Seen, succeeded, valueOf, was, went } from "./seen.ts"

const has = (job: Job | undefined, holds: (child: Child) => boolean): boolean => job?.flow?.children.some(holds) === true

const owes = ({ cascaded, status }: Child): boolean => status === "cancelled" && !cascaded

const fansOut = (seen: Seen, id: string, token: string): boolean =>
  succeeded(seen) && was(seen, id)?.lock?.token === token

const parents: Branches = {
  "FanOut: parks": of("ack", (_args, seen) => went(seen, "active", "waiting-children")),
  "FanOut: without children": of(
    "ack",
    ([id, token, outcome], seen) =>
      outcome._tag === "FanOut" && outcome.children.length === 0 && fansOut(seen, id, token)
  ),
  "FanOut: a second time": of(
    "ack",
    ([id, token, outcome], seen) =>
      outcome._tag === "FanOut" && was(seen, id)?.flow !== undefined && fansOut(seen, id, token)
  ),
  "FanOut: gives way to a cancel, and owes cascades": of(
    "ack",
    ([id, , outcome], seen) => outcome._tag === "FanOut" && !has(was(seen, id), owes) && has(is(seen, id), owes)
  ),
  "a parent collects": of(
    "ack",
    ([id, token, outcome], seen) =>
      outcome._tag === "Complete" && was(seen, id)?.flow !== undefined && fansOut(seen, id, token)
  ),
  "a parent is retried": of("retry", ([id], seen) => succeeded(seen) && was(seen, id)?.flow !== undefined),
  "a parent that owes cascades is removed": of(
    "remove",
    ([id], seen) => valueOf(seen) === true && has(was(seen, id), owes)
  ),
  "a parent is cancelled, and owes cascades": of("cancel", ([id], seen) => has(is(seen, id), owes)),
  "retention spares a parent that owes cascades": ({ after, before }) =>
    after.jobs.length >= before.jobs.length ? false : after.jobs.some((job) => has(job, owes))
}

const reports: Branches = {
  "recordChildResults: applied": of("recordChildResults", (_args, seen) => says(seen, '"applied":true')),
  "recordChildResults: not applied": of("recordChildResults", (_args, seen) => says(seen, '"applied":false')),
  "recordChildResults: both in one batch": of(
    "recordChildResults",
    (_args, seen) => says(seen, '"applied":true') && says(seen, '"applied":false')
  ),
  "recordChildResults: over two flows": of("recordChildResults", (_args, seen) => changes(seen).length > 1),
  "recordChildResults: the last one": of("recordChildResults", (_args, seen) =>
    went(seen, "waiting-children", "waiting")
  ),
  "recordChildResults: fail-fast": of("recordChildResults", (_args, seen) => went(seen, "waiting-children", "failed")),
  "recordChildResults: fail-fast, and others owe cascades": of("recordChildResults", (_args, seen) =>
    changes(seen).some(([, job]) => job?.record.state === "failed" && has(job, owes))
  ),
  "recordChildResults: a failed child of a patient flow": of("recordChildResults", (_args, seen) =>
    changes(seen).some(([, job]) => job?.record.state !== "failed" && has(job, ({ status }) => status === "failed"))
  ),
  "recordChildResults: from the outbox": of("recordChildResults", ([reports], seen) =>
    seen.before.outbox.some(({ entry }) => reports.includes(entry.report)) && says(seen, '"applied":true')
  ),
  "enqueue: a child of a flow": of("enqueue", ([{ id }], seen) =>
    seen.after.jobs.length > seen.before.jobs.length &&
    seen.before.jobs.some((job) => has(job, ({ request }) => request.id === id))
  ),
  "flowSweepWork: to reconcile": of("flowSweepWork", (_args, seen) => says(seen, '"reconcile":[{')),
  "flowSweepWork: to cascade": of("flowSweepWork", (_args, seen) => says(seen, '"cascade":[{')),
  "flowSweepWork: of several flows": of("flowSweepWork", (_args, seen) =>
    says(seen, '"children"') && JSON.stringify(valueOf(seen)).split('"children"').length > 2
  ),
  "markChildrenCascaded: owed ones": of("markChildrenCascaded", (_args, seen) =>
    changes(seen).some(([job, now]) => has(job, owes) && !has(now, owes))
  ),
  "listChildResults: a later page": of("listChildResults", ([, options], seen) =>
    options?.cursor !== undefined && succeeded(seen)
  )
}

const appends = (name: OperationName): readonly [string, Branch] => [
  `outbox: an entry by ${name}`,
  of(name, (_args, { after, before }) => after.outbox.length > before.outbox.length)
]

const outbox: Branches = {
  ...Object.fromEntries(
    (["ack", "ackMany", "release", "recoverStalled", "cancel", "cancelByDedupe", "recordChildResults"] as const).map(
      appends
    )
  ),
  "peekOutbox: behind an entry": of("peekOutbox", ([{ after }], { before }) =>
    before.outbox.some(({ deleted, id }) => id !== undefined && id === after && !deleted)
  ),
  "peekOutbox: behind an entry that is gone": of("peekOutbox", ([{ after }], seen) =>
    seen.before.outbox.some(({ deleted, id }) => id !== undefined && id === after && deleted) && says(seen, '"id"')
  ),
  "peekOutbox: behind an unknown entry": of("peekOutbox", ([{ after }], seen) =>
    after !== undefined && says(seen, '"id"') && !seen.before.outbox.some(({ id }) => id === after)
  ),
  "deleteOutbox: entries": of("deleteOutbox", ([ids], { before }) =>
    before.outbox.some(({ deleted, id }) => !deleted && id !== undefined && ids.includes(id))
  )
}

const schedules: Branches = {
  "upsertSchedule: an unchanged cadence": of("upsertSchedule", ([{ key, nextRunAt }], { after, before }) =>
    before.schedules.some((each) => each.key === key) &&
    after.schedules.some((each) => each.key === key && each.nextRunAt !== nextRunAt)
  ),
  "upsertSchedule: a changed cadence": of("upsertSchedule", ([{ key, nextRunAt }], { after, before }) =>
    before.schedules.some((each) => each.key === key && each.nextRunAt !== nextRunAt) &&
    after.schedules.some((each) => each.key === key && each.nextRunAt === nextRunAt)
  ),
  "removeSchedule: one": of("removeSchedule", (_args, seen) => valueOf(seen) === true),
  "listSchedules: some": of("listSchedules", (_args, seen) => says(seen, '"key"')),
  "dueSchedules: some": of("dueSchedules", (_args, seen) => says(seen, '"key"')),
  "tickSchedule: a job": of("tickSchedule", (_args, seen) => valueOf(seen) === true),
  "tickSchedule: moves without a job": of("tickSchedule", (_args, { after, before, ...seen }) =>
    after.schedules !== before.schedules && valueOf({ after, before, ...seen }) === false
  ),
  "tickSchedule: nothing": of("tickSchedule", (_args, { after, before }) => after.schedules === before.schedules),
  "advanceSchedule: moves": of("advanceSchedule", (_args, { after, before }) => after.schedules !== before.schedules)
}

const lists: Branches = {
  "list: more behind it": of("list", (_args, seen) => seen.after.listCursors !== seen.before.listCursors),
  "list: a later page": of("list", ([{ cursor }], seen) => cursor !== undefined && says(seen, '"state"')),
  "list: a cursor of another order": of("list", ([{ cursor }], seen) =>
    !succeeded(seen) && seen.before.listCursors.some((each) => each.cursor === cursor)
  ),
  "list: by metadata": of("list", ([{ metadata }], seen) => metadata !== undefined && says(seen, '"state"')),
  "getJob: a job": of("getJob", ([id], seen) => was(seen, id) !== undefined),
  "getJob: none": of("getJob", ([id], seen) => was(seen, id) === undefined),
  "pausedQueues: some": of("pausedQueues", (_args, seen) => says(seen, '"q')),
  "resume: a paused queue": of("resume", ([queue], { before }) => before.paused.includes(queue)),
  "resume: another": of("resume", ([queue], { before }) => !before.paused.includes(queue))
}

/** All of them. */
export const flowBranches: Branches = { ...parents, ...reports, ...outbox, ...schedules, ...lists }
