/** Every argument that says something about a job to be enqueued, in each of the operations that take one. */
import type { EnqueueRequest } from "../Enqueue.ts"
import type { KeepPolicy } from "../Policy.ts"
import type { ScheduleRecord } from "../Schedule.ts"
import { child, fanOut, parentLink } from "./flowKit.ts"
import * as Kit from "./kit.ts"
import { schedule } from "./schedules.ts"
import { type Call, type Place, waysToAck } from "./world.ts"

/** A field of a request: its name below the request, and how to set it. */
export interface RequestField<A> {
  readonly name: string
  readonly set: (value: A) => Partial<EnqueueRequest>
}

const takers: ReadonlyArray<{
  readonly operation: string
  readonly at: string
  readonly call: (fields: Partial<EnqueueRequest>) => Call<unknown>
}> = [
  {
    operation: "enqueue",
    at: "request",
    call: (fields) => (store) => store.enqueue({ ...Kit.request(), ...fields })
  },
  {
    operation: "enqueueMany",
    at: "requests[1]",
    call: (fields) => (store) => store.enqueueMany([Kit.request({ id: "held" }), { ...Kit.request(), ...fields }])
  },
  {
    operation: "tickSchedule",
    at: "request",
    call: (fields) => (store, world) =>
      store.tickSchedule(world.schedule, Kit.start, Kit.start + 1, { ...Kit.request({ id: "tick" }), ...fields })
  },
  ...waysToAck.map(({ ack, operation }) => ({
    operation,
    at: "outcome.children[1].request",
    call:
      (fields: Partial<EnqueueRequest>): Call<unknown> =>
      (store, { held }) => {
        const spec = child(held.id, "y")
        const children = [child(held.id, "x"), { ...spec, request: { ...spec.request, ...fields } }]
        return ack(store, held.id, held.token, fanOut(children))
      }
  }))
]

/** The places of one field of a request in the operations that take requests. */
export const inRequests = <A>({ name, set }: RequestField<A>): ReadonlyArray<Place<A>> =>
  takers.map(({ at, call, operation }) => ({
    operation,
    field: `${at}.${name}`,
    call: (store, world, value) => call(set(value))(store, world, value)
  }))

/** A field that requests and schedules have both. */
export interface SharedField<A> {
  readonly name: string
  readonly set: (value: A) => Partial<EnqueueRequest> & Partial<ScheduleRecord>
}

/** The place of a field of a schedule. */
export const inSchedule = <A>(name: string, set: (value: A) => Partial<ScheduleRecord>): Place<A> => ({
  operation: "upsertSchedule",
  field: `schedule.${name}`,
  call: (store, _world, value) => store.upsertSchedule({ ...schedule("schedule"), ...set(value) })
})

/** The places of one field in requests and in a schedule. */
export const shared = <A>({ name, set }: SharedField<A>): ReadonlyArray<Place<A>> => [
  ...inRequests({ name, set }),
  inSchedule(name, set)
]

/** A link to a parent with one field set. */
export const link = (fields: Partial<NonNullable<EnqueueRequest["parent"]>>): Partial<EnqueueRequest> => ({
  parent: { ...parentLink("far", "key"), ...fields }
})

/** A dedupe policy with one field set. */
export const dedupe = (fields: Partial<NonNullable<EnqueueRequest["dedupe"]>>): Partial<EnqueueRequest> => ({
  dedupe: { key: "another", ttlMs: undefined, extend: false, replace: false, ...fields }
})

/** A retention policy with one rule. */
export const keep = (
  state: keyof KeepPolicy,
  rule: { readonly count?: number; readonly ageMs?: number }
): { readonly keep: KeepPolicy } => ({
  keep: {
    completed: undefined,
    failed: undefined,
    cancelled: undefined,
    [state]: { count: undefined, ageMs: undefined, ...rule }
  }
})
