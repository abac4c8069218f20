/** The adapter for effect-mq before a store that a test writes, and requests as effect-mq makes them. */
import * as EffectMq from "@jobwire/client/effect-mq"
import { type JobStore, Limits, Validation } from "@jobwire/protocol"
import { JobStore as Theirs } from "effect-mq"
import { stubStore } from "./stub-store.ts"

/** The adapter before a store with these operations, which checks its arguments as every driver does. */
export const adapt = (operations: Partial<JobStore.Service>, limits: Partial<Limits.Limits> = {}): Theirs.Service => {
  const all = { ...Limits.defaults, ...limits }
  return EffectMq.make(Validation.validated(stubStore(operations), all), all)
}

export const id = Theirs.JobId("job-1")
export const queue = Theirs.QueueName("queue")

/** A plain request, with some fields changed. */
export const request = (fields: Partial<Theirs.EnqueueRequest> = {}): Theirs.EnqueueRequest => ({
  id: undefined,
  name: "name",
  queue,
  payload: null,
  metadata: {},
  priority: 0,
  attemptsMax: 1,
  backoff: undefined,
  keep: undefined,
  timeoutMs: undefined,
  dedupe: undefined,
  trace: undefined,
  parent: undefined,
  delayMs: 0,
  ...fields
})
