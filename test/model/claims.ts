/** Taking jobs, and what an empty claim says. */
import type { ClaimOptions, ClaimResult, JobRecord } from "@jobwire/protocol"
import { type Step, succeed } from "./answers.ts"
import { change, type Job, put, recordOf, type State, wake, whole } from "./state.ts"

// A job that comes due need not wake anybody, but may.
const promoteDue = (state: State, now: number, queue: string): State =>
  state.jobs
    .filter(({ record }) => record.queue === queue && record.state === "delayed" && record.runAt <= now)
    .reduce((after, job) => wake(change(after, job, { state: "waiting" }), queue, job.record.name, false), state)

const firstInLine = (state: State, { names, queue }: Pick<ClaimOptions, "names" | "queue">): Job | undefined =>
  state.jobs
    .filter(({ record }) => record.state === "waiting" && record.queue === queue && names.includes(record.name))
    .toSorted((one, other) => other.record.priority - one.record.priority || one.place - other.place)[0]

/** A claim by one token: the job it holds afterwards, or none. */
const claimOne = (before: State, now: number, options: ClaimOptions): readonly [State, JobRecord | undefined] => {
  const { lockDurationMs, queue, token } = options
  const state = promoteDue(before, now, queue)
  const until = now + whole(lockDurationMs)
  // Names are not looked at, nor a pause: the answer of the first claim was lost, and this is its repetition.
  const held = state.jobs.find(({ lock, record }) => record.queue === queue && lock?.token === token)
  if (held !== undefined) {
    const again = { ...held, lock: { token, until: Math.max(until, held.lock?.until ?? 0) } }
    return [put(state, again), recordOf(again)]
  }
  const first = state.paused.includes(queue) ? undefined : firstInLine(state, options)
  if (first === undefined) return [state, undefined]
  const taken: Job = {
    ...first,
    lock: { token, until },
    record: { ...first.record, state: "active", processedAt: now }
  }
  return [put(state, taken), recordOf(taken)]
}

type Asked = Pick<ClaimOptions, "names" | "queue">

/** What is said to a claim that found nothing, and the state that remembers the token it was given. */
const emptiness = (state: State, { names, queue }: Asked, told: { readonly wakeToken: string } | undefined) => {
  const times = state.jobs
    .filter(({ record }) => record.state === "delayed" && record.queue === queue && names.includes(record.name))
    .map(({ record }) => record.runAt)
  const token = told?.wakeToken === undefined || told.wakeToken === "" ? `wake-${state.wakes.length}` : told.wakeToken
  const given = { token, wakes: state.wakes.length, queue, names }
  return {
    state: { ...state, wakeTokens: [...state.wakeTokens, given] },
    said: { nextRunAt: times.length === 0 ? undefined : Math.min(...times), wakeToken: token }
  }
}

export const claim: Step<"claim"> = (before, now, [options], told) => {
  const [state, job] = claimOne(before, now, options)
  if (job !== undefined) return succeed<ClaimResult>(state, { _tag: "Claimed", job })
  const nothing = emptiness(state, options, told?._tag === "Empty" ? told : undefined)
  return succeed<ClaimResult>(nothing.state, { _tag: "Empty", ...nothing.said })
}

export const claimMany: Step<"claimMany"> = (before, now, [{ tokens, ...options }], told) => {
  let state = before
  const jobs: Array<{ readonly token: string; readonly job: JobRecord }> = []
  for (const token of tokens) {
    const [after, job] = claimOne(state, now, { ...options, token })
    state = after
    if (job === undefined) {
      const nothing = emptiness(state, options, told?.empty)
      return succeed(nothing.state, { jobs, empty: nothing.said })
    }
    jobs.push({ token, job })
  }
  return succeed(state, { jobs, empty: undefined })
}
