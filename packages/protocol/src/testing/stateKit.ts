/** Jobs in every state, for the rules that must hold in several of them. */
import { Effect } from "effect"
import type { EnqueueRequest } from "../Enqueue.ts"
import { JobState } from "../Job.ts"
import * as Flow from "./flowKit.ts"
import * as Kit from "./kit.ts"

/** Every state of a job. */
export const states = JobState.literals

/** Enqueues a job and brings it to a state; its queue must hold no other waiting job. */
export const addIn = Effect.fnUntraced(function* (store: Kit.Store, state: JobState, fields?: Partial<EnqueueRequest>) {
  switch (state) {
    case "waiting":
      return yield* Kit.add(store, fields)
    case "delayed":
      return yield* Kit.add(store, { ...fields, delayMs: 60_000 })
    case "active":
      return (yield* Kit.addAndTake(store, fields)).id
    case "waiting-children":
      return (yield* Flow.addParent(store, ["left", "right"], { fields: { ...fields } })).id
    default:
      return yield* Kit.addFinished(store, state, fields)
  }
})
