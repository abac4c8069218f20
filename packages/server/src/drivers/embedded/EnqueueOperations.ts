/** Putting jobs in. */
import type { EnqueueRequest, EnqueueResult, JobStore, JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import { judge, take, type Verdict } from "../../core/Dedupe.ts"
import { newJob, replace } from "../../core/Enqueue.ts"
import type { Engine, Unit } from "./Engine.ts"
import { allTaken, drawFrom, drawId, mostDraws } from "./JobIds.ts"
import type { IdGenerator } from "./StoreOptions.ts"
import type { Tables } from "./Tables.ts"
import { inTurns } from "./Turns.ts"

export const enqueue = (engine: Engine): JobStore.Service["enqueue"] => {
  const { idGenerator } = engine
  return idGenerator === undefined
    ? (request) => engine.write((unit) => enqueueFresh(unit, request))
    : // One request gives one result.
      (request) => Effect.map(enqueueDrawn(engine, idGenerator, [request]), (results) => results[0] as EnqueueResult)
}

export const enqueueMany = (engine: Engine): JobStore.Service["enqueueMany"] => {
  const { idGenerator } = engine
  const some = (requests: ReadonlyArray<EnqueueRequest>) =>
    idGenerator === undefined
      ? engine.write((unit) => requests.map((request) => enqueueFresh(unit, request)))
      : enqueueDrawn(engine, idGenerator, requests)
  return (requests) => inTurns(requests, some)
}

/**
 * One enqueue in a unit of work. `newId` gives the id of a job that is new and has none; when it gives none either, nothing
 * happens and the answer is `undefined`.
 */
export const enqueueIn = (
  unit: Unit,
  request: EnqueueRequest,
  newId: () => string | undefined
): EnqueueResult | undefined => {
  const { now, tables } = unit
  if (request.id !== undefined && tables.jobs.get(request.id) !== undefined) return { id: request.id, duplicate: true }
  const verdict = judgeIn(tables, request, now)
  if (verdict !== undefined && verdict._tag !== "Free") return dedupe(unit, request, verdict)
  const id = request.id ?? newId()
  if (id === undefined) return undefined
  tables.jobs.insert(newJob(id, tables.jobs.next(), request, now))
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
const enqueueFresh = (unit: Unit, request: EnqueueRequest): EnqueueResult =>
  enqueueIn(unit, request, () => drawId(unit.now)) as EnqueueResult

/**
 * With an application's generator, which may be an effect: ids are drawn before the unit of work that needs them. A request
 * whose key is held now gets none. When a unit meets a request without an id, or with one that is taken, it ends there; an
 * id is drawn for that request, and the next unit goes on.
 */
const enqueueDrawn = Effect.fnUntraced(function* (
  engine: Engine,
  generator: IdGenerator,
  requests: ReadonlyArray<EnqueueRequest>
): Effect.fn.Return<ReadonlyArray<EnqueueResult>, JobStoreError> {
  const drafts = requests.map((request): Draft => ({ request, id: undefined, draws: 0 }))
  const results: Array<EnqueueResult> = []
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

const enqueueWhilePossible = (unit: Unit, drafts: ReadonlyArray<Draft>): ReadonlyArray<EnqueueResult> => {
  const results: Array<EnqueueResult> = []
  for (const { id, request } of drafts) {
    const isFree = () => id !== undefined && unit.tables.jobs.get(id) === undefined
    const result = enqueueIn(unit, request, () => (isFree() ? id : undefined))
    if (result === undefined) break
    results.push(result)
  }
  return results
}
