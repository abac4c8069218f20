/** What people do to a job by hand. */
import { fail, notFound, type Step, succeed } from "./answers.ts"
import { end, forget } from "./ends.ts"
import { keyed } from "./enqueue.ts"
import { change, find, isOver, type Job, type State, toBack, wake } from "./state.ts"

export const retry: Step<"retry"> = (state, now, [id]) => {
  const job = find(state, id)
  if (job === undefined) return notFound(state, id)
  const { name, queue } = job.record
  if (job.record.state !== "failed") {
    return fail(state, { _tag: "JobNotRetryableError", jobId: id, state: job.record.state })
  }
  const fresh: Job = {
    ...job,
    record: {
      ...job.record,
      state: "waiting",
      attemptsMade: 0,
      stalledCount: 0,
      runAt: now,
      // It counts as not claimed yet.
      processedAt: undefined,
      finishedAt: undefined,
      exit: undefined,
      failedReason: undefined
    }
  }
  return succeed(wake(toBack(state, fresh), queue, name), undefined)
}

const cancelJob = (state: State, job: Job, now: number): State =>
  job.record.state === "active" ? change(state, job, { cancelRequested: true }) : end(state, job, "cancelled", now)

export const cancel: Step<"cancel"> = (state, now, [id]) => {
  const job = find(state, id)
  if (job === undefined) return notFound(state, id)
  return isOver(job)
    ? fail(state, { _tag: "JobNotCancellableError", jobId: id, state: job.record.state })
    : succeed(cancelJob(state, job, now), undefined)
}

export const cancelByDedupe: Step<"cancelByDedupe"> = (state, now, [name, key]) => {
  // The keyed job is the one that took the key last, also when its window is over.
  const { job } = keyed(state, name, key)
  return job === undefined || isOver(job) ? succeed(state, false) : succeed(cancelJob(state, job, now), true)
}

export const promote: Step<"promote"> = (state, now, [id]) => {
  const job = find(state, id)
  if (job === undefined) return notFound(state, id)
  if (job.record.state !== "delayed") {
    return fail(state, { _tag: "JobNotPromotableError", jobId: id, state: job.record.state })
  }
  // That `runAt` becomes the moment of the promotion, the contract does not say.
  const { name, queue } = job.record
  return succeed(wake(change(state, job, { state: "waiting", runAt: now }), queue, name), undefined)
}

export const remove: Step<"remove"> = (state, now, [id]) => {
  const job = find(state, id)
  return job === undefined || ["active", "waiting-children"].includes(job.record.state)
    ? succeed(state, false)
    : succeed(forget(state, job, now), true)
}
