/** Every argument that takes a text, with the length that it may have. */
import * as Limits from "../Limits.ts"
import { child, fanOut, report } from "./flowKit.ts"
import * as Kit from "./kit.ts"
import { dedupe, inRequests, inSchedule, link, type RequestField } from "./requestPlaces.ts"
import { type Call, type Place, waysToAck } from "./world.ts"

/** An argument that takes a text. */
export interface TextPlace extends Place<string> {
  readonly limit: number
  readonly mayBeEmpty?: boolean
  /** Only some texts mean something here, so the longest one need not be taken. */
  readonly hasForm?: boolean
}

const { idLength, keyLength, nameLength, opaqueLength, tokenLength } = Limits.defaults

const requestTexts: ReadonlyArray<RequestField<string> & { readonly limit: number; readonly mayBeEmpty?: boolean }> = [
  { name: "id", limit: idLength, set: (id) => ({ id }) },
  { name: "name", limit: nameLength, set: (name) => ({ name }) },
  { name: "queue", limit: nameLength, set: (queue) => ({ queue }) },
  { name: "dedupe.key", limit: keyLength, set: (key) => dedupe({ key }) },
  {
    name: "trace.traceId",
    limit: nameLength,
    mayBeEmpty: true,
    set: (traceId) => ({ trace: { traceId, spanId: "s", sampled: true, delayed: false } })
  },
  {
    name: "trace.spanId",
    limit: nameLength,
    mayBeEmpty: true,
    set: (spanId) => ({ trace: { traceId: "t", spanId, sampled: true, delayed: false } })
  },
  { name: "parent.flowName", limit: nameLength, set: (flowName) => link({ flowName }) },
  { name: "parent.flowId", limit: idLength, set: (flowId) => link({ flowId }) },
  { name: "parent.childKey", limit: keyLength, set: (childKey) => link({ childKey }) },
  { name: "parent.parentStoreKey", limit: keyLength, set: (parentStoreKey) => link({ parentStoreKey }) }
]

const place = (
  operation: string,
  field: string,
  limit: number,
  call: Call<string>,
  more?: { readonly mayBeEmpty?: boolean; readonly hasForm?: boolean }
): TextPlace => ({ operation, field, limit, call, ...more })

/** The operations that take a job's id and nothing else. */
const byId = (["getJob", "getAttempts", "retry", "cancel", "promote", "remove"] as const).map((operation) =>
  place(operation, "id", idLength, (store, _world, id) => store[operation](id))
)

const onQueue = (["counts", "pause", "resume"] as const).map((operation) =>
  place(operation, "queue", nameLength, (store, _world, queue) => store[operation](queue))
)

const work: ReadonlyArray<TextPlace> = [
  place("claim", "options.queue", nameLength, (store, _world, queue) => store.claim(Kit.claimOptions({ queue }))),
  place("claim", "options.names[1]", nameLength, (store, _world, name) =>
    store.claim(Kit.claimOptions({ queue: "none", names: [Kit.name, name] }))
  ),
  place("claim", "options.token", tokenLength, (store, _world, token) =>
    store.claim(Kit.claimOptions({ queue: "none", token }))
  ),
  place("claimMany", "options.queue", nameLength, (store, _world, queue) =>
    store.claimMany(Kit.claimManyOptions({ queue }))
  ),
  place("claimMany", "options.names[1]", nameLength, (store, _world, name) =>
    store.claimMany(Kit.claimManyOptions({ queue: "none", names: [Kit.name, name] }))
  ),
  place("claimMany", "options.tokens[1]", tokenLength, (store, _world, token) =>
    store.claimMany(Kit.claimManyOptions({ queue: "none", tokens: ["token", token] }))
  ),
  ...waysToAck.flatMap(({ ack, operation }) => [
    place(operation, "id", idLength, (store, { held }, id) => ack(store, id, held.token, Kit.complete())),
    place(operation, "token", tokenLength, (store, { held }, token) => ack(store, held.id, token, Kit.complete()))
  ]),
  place("release", "id", idLength, (store, { held }, id) => store.release(id, held.token)),
  place("release", "token", tokenLength, (store, { held }, token) => store.release(held.id, token)),
  place("extendLocks", "locks[1].id", idLength, (store, { held }, id) =>
    store.extendLocks([held, { id, token: "token" }], 1000)
  ),
  place("extendLocks", "locks[1].token", tokenLength, (store, { held }, token) =>
    store.extendLocks([held, { id: "waiting", token }], 1000)
  ),
  place("awaitWake", "queues[1]", nameLength, (store, { wakeToken }, queue) =>
    store.awaitWake([Kit.queue, queue], wakeToken)
  ),
  place("awaitWake", "wakeToken", opaqueLength, (store, _world, token) => store.awaitWake([Kit.queue], token), {
    hasForm: true
  })
]

const looking: ReadonlyArray<TextPlace> = [
  place("list", "options.queue", nameLength, (store, _world, queue) => store.list({ queue })),
  place("list", "options.name", nameLength, (store, _world, name) => store.list({ name })),
  place("list", "options.cursor", opaqueLength, (store, _world, cursor) => store.list({ cursor }), {
    hasForm: true
  }),
  place("cancelByDedupe", "name", nameLength, (store, _world, name) => store.cancelByDedupe(name, "unknown")),
  place("cancelByDedupe", "key", keyLength, (store, _world, key) => store.cancelByDedupe(Kit.name, key))
]

const schedules: ReadonlyArray<TextPlace> = [
  { ...inSchedule("key", (key: string) => ({ key })), limit: keyLength },
  { ...inSchedule("jobName", (jobName: string) => ({ jobName })), limit: nameLength },
  { ...inSchedule("queue", (queue: string) => ({ queue })), limit: nameLength },
  { ...inSchedule("group", (group: string) => ({ group })), limit: keyLength },
  {
    ...inSchedule("cron", (cron: string) => ({ cron, everyMs: undefined })),
    limit: keyLength,
    hasForm: true
  },
  {
    ...inSchedule("tz", (tz: string) => ({ cron: "0 9 * * *", tz, everyMs: undefined })),
    limit: nameLength,
    hasForm: true
  },
  place("removeSchedule", "key", keyLength, (store, _world, key) => store.removeSchedule(key)),
  place("listSchedules", "filter.jobName", nameLength, (store, _world, jobName) => store.listSchedules({ jobName })),
  place("listSchedules", "filter.queue", nameLength, (store, _world, queue) => store.listSchedules({ queue })),
  place("listSchedules", "filter.group", keyLength, (store, _world, group) => store.listSchedules({ group })),
  place("tickSchedule", "key", keyLength, (store, _world, key) =>
    store.tickSchedule(key, Kit.start, Kit.start + 1, Kit.request({ id: "tick" }))
  ),
  place("advanceSchedule", "key", keyLength, (store, _world, key) =>
    store.advanceSchedule(key, Kit.start, Kit.start + 1)
  )
]

const flows: ReadonlyArray<TextPlace> = [
  ...waysToAck.flatMap(({ ack, operation }) => [
    place(operation, "outcome.children[0].childKey", keyLength, (store, { held }, childKey) =>
      ack(store, held.id, held.token, fanOut([{ ...child(held.id, "x"), childKey }]))
    ),
    place(operation, "outcome.children[0].storeKey", keyLength, (store, { held }, storeKey) =>
      ack(store, held.id, held.token, fanOut([{ ...child(held.id, "x"), storeKey }]))
    )
  ]),
  place("recordChildResults", "reports[1].flowId", idLength, (store, { parent }, flowId) =>
    store.recordChildResults([report(parent, "a", "completed"), report(flowId, "b", "completed")])
  ),
  place("recordChildResults", "reports[1].childKey", keyLength, (store, { parent }, key) =>
    store.recordChildResults([report(parent, "a", "completed"), report(parent, key, "completed")])
  ),
  place(
    "recordChildResults",
    "reports[0].failedReason",
    opaqueLength,
    (store, { parent }, failedReason) => store.recordChildResults([report(parent, "a", "failed", { failedReason })]),
    { mayBeEmpty: true }
  ),
  place("listChildResults", "flowId", idLength, (store, _world, flowId) => store.listChildResults(flowId)),
  place(
    "listChildResults",
    "options.cursor",
    opaqueLength,
    (store, { parent }, cursor) => store.listChildResults(parent, { cursor }),
    { hasForm: true }
  ),
  place("markChildrenCascaded", "flowId", idLength, (store, _world, id) => store.markChildrenCascaded(id, ["a"])),
  place("markChildrenCascaded", "childKeys[1]", keyLength, (store, _world, key) =>
    store.markChildrenCascaded("unknown", ["a", key])
  ),
  place("peekOutbox", "options.after", opaqueLength, (store, _world, after) => store.peekOutbox({ limit: 1, after })),
  place("deleteOutbox", "ids[1]", opaqueLength, (store, _world, id) => store.deleteOutbox(["unknown", id]))
]

/** All of them. */
export const textPlaces: ReadonlyArray<TextPlace> = [
  ...requestTexts.flatMap(({ limit, mayBeEmpty = false, name, set }) =>
    inRequests({ name, set }).map(({ call, field, operation }) => place(operation, field, limit, call, { mayBeEmpty }))
  ),
  ...byId,
  ...onQueue,
  ...work,
  ...looking,
  ...schedules,
  ...flows
]
