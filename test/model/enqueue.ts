/** Putting jobs in, and the dedupe keys. */
import type { DedupePolicy, EnqueueRequest, EnqueueResult, KeepRule } from "@jobwire/protocol"
import { type Step, succeed } from "./answers.ts"
import { change, find, isOver, type Job, json, type Key, type State, wake, whole } from "./state.ts"

const keepRule = (rule: KeepRule | undefined): KeepRule | undefined =>
  rule === undefined
    ? undefined
    : { count: rule.count, ageMs: rule.ageMs === undefined ? undefined : whole(rule.ageMs) }

/** What a request or a schedule says of its runs, with whole durations. */
export const runFieldsOf = ({
  attemptsMax,
  backoff,
  keep,
  metadata,
  payload,
  priority,
  timeoutMs
}: Pick<EnqueueRequest, "attemptsMax" | "backoff" | "keep" | "metadata" | "payload" | "priority" | "timeoutMs">) => ({
  payload: json(payload),
  metadata,
  priority,
  attemptsMax,
  backoff: backoff === undefined ? undefined : { ...backoff, delayMs: whole(backoff.delayMs) },
  keep:
    keep === undefined
      ? undefined
      : { completed: keepRule(keep.completed), failed: keepRule(keep.failed), cancelled: keepRule(keep.cancelled) },
  timeoutMs: timeoutMs === undefined ? undefined : whole(timeoutMs)
})

const insert = (state: State, now: number, id: string, request: EnqueueRequest): State => {
  const numbers = state.numbers + 1
  const job: Job = {
    number: numbers,
    place: numbers,
    record: {
      id,
      name: request.name,
      queue: request.queue,
      ...runFieldsOf(request),
      state: request.delayMs > 0 ? "delayed" : "waiting",
      attemptsMade: 0,
      stalledCount: 0,
      cancelRequested: false,
      dedupeKey: request.dedupe?.key,
      trace: request.trace,
      parent: request.parent,
      runAt: now + whole(request.delayMs),
      enqueuedAt: now,
      processedAt: undefined,
      finishedAt: undefined,
      exit: undefined,
      failedReason: undefined
    },
    lock: undefined,
    ledger: [],
    flow: undefined
  }
  return wake({ ...state, numbers, jobs: [...state.jobs, job] }, request.queue, request.name)
}

/** The key by its job name, and the job that took it, when that is still there. */
export const keyed = (state: State, name: string, key: string) => {
  const found = state.keys.find((each) => each.name === name && each.key === key)
  const job = state.jobs.find(({ number }) => number === found?.job.number)
  return { key: found, job }
}

const putKey = (state: State, key: Key): State => ({
  ...state,
  keys: [...state.keys.filter((each) => each.name !== key.name || each.key !== key.key), key]
})

// A request without a ttl starts no window: a key keeps the one it has.
const withWindow = (state: State, key: Key, { ttlMs }: DedupePolicy, now: number): State =>
  ttlMs === undefined ? state : putKey(state, { ...key, until: now + whole(ttlMs) })

/** The state after an enqueue that the dedupe key drops or turns into a replacement; nothing when the key is free. */
const deduped = (
  state: State,
  now: number,
  request: EnqueueRequest,
  policy: DedupePolicy
): readonly [State, string] | undefined => {
  const { job, key } = keyed(state, request.name, policy.key)
  if (key === undefined) return undefined
  // The keyed job is the one that took the key last, also when its window is over.
  if (policy.replace && job?.record.state === "delayed") {
    const replaced = change(state, job, {
      ...runFieldsOf(request),
      trace: request.trace,
      runAt: now + whole(request.delayMs)
    })
    return [wake(withWindow(replaced, key, policy, now), job.record.queue, job.record.name), key.job.id]
  }
  if (key.until === undefined) return job === undefined || isOver(job) ? undefined : [state, key.job.id]
  if (now >= key.until) return undefined
  return [policy.extend ? withWindow(state, key, policy, now) : state, key.job.id]
}

/** One enqueue; `drawn` is the id that the store says to have drawn. */
export const enqueueOne = (
  state: State,
  now: number,
  request: EnqueueRequest,
  drawn: string | undefined
): readonly [State, EnqueueResult] => {
  if (request.id !== undefined && find(state, request.id) !== undefined) {
    return [state, { id: request.id, duplicate: true }]
  }
  const dropped = request.dedupe === undefined ? undefined : deduped(state, now, request, request.dedupe)
  if (dropped !== undefined) return [dropped[0], { id: dropped[1], duplicate: true }]
  const id = request.id ?? newId(state, drawn)
  const inserted = insert(state, now, id, request)
  if (request.dedupe === undefined) return [inserted, { id, duplicate: false }]
  const { key, ttlMs } = request.dedupe
  const taken: Key = { name: request.name, key, job: { number: inserted.numbers, id }, until: undefined }
  return [withWindow(putKey(inserted, taken), taken, { ...request.dedupe, ttlMs }, now), { id, duplicate: false }]
}

// A drawn id that a job has is none.
const newId = (state: State, drawn: string | undefined): string =>
  drawn === undefined || drawn === "" || find(state, drawn) !== undefined ? `drawn-${state.numbers + 1}` : drawn

export const enqueue: Step<"enqueue"> = (state, now, [request], told) =>
  succeed(...enqueueOne(state, now, request, told?.id))

export const enqueueMany: Step<"enqueueMany"> = (state, now, [requests], told) => {
  let after = state
  const results = requests.map((request, index) => {
    const [next, result] = enqueueOne(after, now, request, told?.[index]?.id)
    after = next
    return result
  })
  return succeed(after, results)
}
