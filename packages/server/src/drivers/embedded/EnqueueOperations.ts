/** Putting jobs in. */
import { callConflict, type EnqueueRequest, type EnqueueResult, type JobStore, JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import { judge, take, type Verdict } from "../../core/Dedupe.ts"
import { newJob, replace } from "../../core/Enqueue.ts"
import { callKey, holds, jobKey, receipt, type ReceiptRow } from "../../core/Receipt.ts"
import { bodyOf, idOf, isMemoOf, itemOf, memoOf } from "./CallIds.ts"
import type { Engine, Unit } from "./Engine.ts"
import { allTaken, drawFrom, drawId, mostDraws } from "./JobIds.ts"
import type { IdGenerator } from "./StoreOptions.ts"
import type { Tables } from "./Tables.ts"
import { inTurns } from "./Turns.ts"

export const enqueue =
  (engine: Engine): JobStore.Service["enqueue"] =>
  (request) =>
    // One request gives one result.
    Effect.map(enqueueFrom(engine)([request], 0), ([result]) => result as EnqueueResult)

export const enqueueMany =
  (engine: Engine): JobStore.Service["enqueueMany"] =>
  (requests) =>
    inTurns(requests, enqueueFrom(engine))

/** Enqueues a part of a call in one unit, from this position in it. */
export interface EnqueueFrom {
  (requests: ReadonlyArray<EnqueueRequest>, first: number): Effect.Effect<ReadonlyArray<EnqueueResult>, JobStoreError>
}

export const enqueueFrom = (engine: Engine): EnqueueFrom => {
  const { idGenerator } = engine
  return (requests, first) =>
    Effect.flatMap(
      idGenerator === undefined
        ? engine.write((unit) => requests.map((request, index) => enqueueFresh(unit, request, first + index)))
        : enqueueDrawn(engine, idGenerator, requests, first),
      allOf
    )
}

/** What became of a request: an error when its call's key was given to another. */
type Enqueued = EnqueueResult | JobStoreError

const allOf = (results: ReadonlyArray<Enqueued>): Effect.Effect<ReadonlyArray<EnqueueResult>, JobStoreError> => {
  const conflict = results.find((result) => result instanceof JobStoreError)
  return conflict === undefined
    ? // There is no other error among them.
      Effect.succeed(results as ReadonlyArray<EnqueueResult>)
    : Effect.fail(conflict)
}

/**
 * One enqueue in a unit of work. `newId` gives the id of a job that is new and has none; when it gives none either, nothing
 * happens and the answer is `undefined`.
 */
export const enqueueIn = (
  unit: Unit,
  request: EnqueueRequest,
  newId: () => string | undefined,
  call?: string
): EnqueueResult | undefined => {
  const { now, tables } = unit
  if (request.id !== undefined && tables.jobs.get(request.id) !== undefined) return { id: request.id, duplicate: true }
  const verdict = judgeIn(tables, request, now)
  if (verdict !== undefined && verdict._tag !== "Free") return dedupe(unit, request, verdict)
  const id = request.id ?? newId()
  if (id === undefined) return undefined
  tables.jobs.insert(newJob(id, tables.jobs.next(), request, now, call))
  if (request.dedupe !== undefined) tables.dedupes.put(take(request.name, request.dedupe, id, now))
  unit.wakes.job(request.queue, request.name)
  return { id, duplicate: false }
}

const judgeIn = (tables: Tables, { dedupe, name }: EnqueueRequest, now: number): Verdict | undefined => {
  if (dedupe === undefined) return undefined
  const entry = tables.dedupes.get(name, dedupe.key)
  return judge(dedupe, entry, entry === undefined ? undefined : tables.jobs.get(entry.jobId), now)
}

const dedupe = (
  { now, tables, wakes }: Unit,
  request: EnqueueRequest,
  verdict: Exclude<Verdict, { readonly _tag: "Free" }>
): EnqueueResult => {
  if (verdict.entry !== undefined) tables.dedupes.put(verdict.entry)
  if (verdict._tag === "Held") return { id: verdict.jobId, duplicate: true }
  const { keyed } = verdict
  tables.jobs.update(keyed, replace(keyed, request, now))
  wakes.job(keyed.queue, keyed.name)
  return { id: keyed.id, duplicate: true }
}

// The store's own ids are never taken, so this always has a result.
const enqueueFresh = (unit: Unit, request: EnqueueRequest, position: number): Enqueued =>
  unit.call === undefined
    ? (enqueueIn(unit, request, () => drawId(unit.now)) as EnqueueResult)
    : (enqueueOnce(unit, request, itemOf(unit.call, position), idOf(unit.call, position)) as Enqueued)

/**
 * One enqueue under the key of a call: the job that it makes remembers it, by the id that was made of the key or by the key itself;
 * what makes no job is remembered by a receipt. `ownId` is the id of a new job without one; when it is absent nothing but what is
 * remembered is answered.
 */
const enqueueOnce = (
  unit: Unit,
  request: EnqueueRequest,
  item: string,
  ownId: string | undefined
): Enqueued | undefined => {
  const memo = memoOf(item, request)
  const known = knownResult(unit, request, { item, memo, id: request.id ?? ownId })
  if (known !== undefined) return known
  const result = enqueueIn(unit, request, () => ownId, memo)
  if (result?.duplicate === true) unit.tables.receipts.put(receiptOf(request, item, result, unit.now))
  return result
}

interface Item {
  readonly item: string
  readonly memo: string
  /** The id that its job has or would have. */
  readonly id: string | undefined
}

/** The result of an item that has been carried out before. */
const knownResult = (
  { now, tables }: Unit,
  request: EnqueueRequest,
  { id, item, memo }: Item
): Enqueued | undefined => {
  if (id !== undefined) {
    const row = tables.jobs.get(id)
    const gone = row === undefined ? tables.receipts.get(jobKey(id)) : undefined
    const found = row?.call ?? (holds(gone, now) ? gone.body : undefined)
    if (isMemoOf(found, item, request)) return found === memo ? { id, duplicate: false } : callConflict(item)
  }
  const found = tables.receipts.get(callKey(item))
  return holds(found, now) ? resultIn(found, request, item) : undefined
}

/**
 * With an application's generator, which may be an effect: ids are drawn before the unit of work that needs them. A request
 * whose key is held now gets none. When a unit meets a request without an id, or with one that is taken, it ends there; an
 * id is drawn for that request, and the next unit goes on.
 */
const enqueueDrawn = Effect.fnUntraced(function* (
  engine: Engine,
  generator: IdGenerator,
  requests: ReadonlyArray<EnqueueRequest>,
  first: number
): Effect.fn.Return<ReadonlyArray<Enqueued>, JobStoreError> {
  const drafts = requests.map((request, index): Draft => ({
    request,
    position: first + index,
    id: undefined,
    draws: 0
  }))
  const results: Array<Enqueued> = []
  let lacking = yield* withoutIds(engine, drafts)
  while (results.length < drafts.length) {
    for (const draft of lacking) {
      if (draft.draws++ >= mostDraws) return yield* allTaken(draft.id)
      draft.id = yield* drawFrom(generator, draft.request, engine.limits)
    }
    results.push(...(yield* engine.write((unit) => enqueueWhilePossible(unit, drafts.slice(results.length)))))
    lacking = drafts.slice(results.length, results.length + 1)
  }
  return results
})

/** A request on its way, with the id drawn for it. */
interface Draft {
  readonly request: EnqueueRequest
  readonly position: number
  id: string | undefined
  draws: number
}

const withoutIds = (
  engine: Engine,
  drafts: ReadonlyArray<Draft>
): Effect.Effect<ReadonlyArray<Draft>, JobStoreError> => {
  const anonymous = drafts.filter(({ request }) => request.id === undefined)
  return anonymous.every(({ request }) => request.dedupe === undefined)
    ? Effect.succeed(anonymous)
    : engine.read((tables, now) =>
        anonymous.filter(({ request }) => (judgeIn(tables, request, now)?._tag ?? "Free") === "Free")
      )
}

const enqueueWhilePossible = (unit: Unit, drafts: ReadonlyArray<Draft>): ReadonlyArray<Enqueued> => {
  const results: Array<Enqueued> = []
  for (const { id, position, request } of drafts) {
    const free = id !== undefined && unit.tables.jobs.get(id) === undefined ? id : undefined
    const result = enqueueDrawnOnce(unit, request, free, position)
    if (result === undefined) break
    results.push(result)
  }
  return results
}

// Nothing in a drawn id leads back to the call, so a receipt does.
const enqueueDrawnOnce = (
  unit: Unit,
  request: EnqueueRequest,
  free: string | undefined,
  position: number
): Enqueued | undefined => {
  if (unit.call === undefined) return enqueueIn(unit, request, () => free)
  const item = itemOf(unit.call, position)
  if (request.id !== undefined) return enqueueOnce(unit, request, item, undefined)
  const found = unit.tables.receipts.get(callKey(item))
  if (holds(found, unit.now)) return resultIn(found, request, item)
  const result = enqueueIn(unit, request, () => free)
  if (result !== undefined) unit.tables.receipts.put(receiptOf(request, item, result, unit.now))
  return result
}

const receiptOf = (request: EnqueueRequest, item: string, result: EnqueueResult, now: number) =>
  receipt(callKey(item), bodyOf([request]), JSON.stringify(result), now)

const resultIn = ({ answer, body }: ReceiptRow, request: EnqueueRequest, item: string): Enqueued =>
  // It was written by `receiptOf`.
  body === bodyOf([request]) ? (JSON.parse(answer) as EnqueueResult) : callConflict(item)
