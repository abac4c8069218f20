/** When `--until-empty` is satisfied. */
import type { JobStoreError } from "@jobwire/protocol"
import { Effect } from "effect"
import { noteCall, type WorkerContext } from "./WorkerContext.ts"

const hasWork = Effect.fnUntraced(function* ({ options, store }: WorkerContext, name: string) {
  const { items } = yield* store.list({
    queue: options.queue,
    name,
    states: ["waiting", "delayed", "active"],
    limit: 1
  })
  return items.length > 0
})

const findsWork = Effect.fnUntraced(function* (context: WorkerContext) {
  for (const name of context.options.names) if (yield* hasWork(context, name)) return true
  return false
})

// Nobody gets the jobs of a paused queue, so a worker that waits for them says why.
const tellIfPaused = Effect.fnUntraced(function* (context: WorkerContext) {
  if (context.toldPaused || !(yield* context.store.pausedQueues()).includes(context.options.queue)) return
  context.toldPaused = true
  context.options.report({ _tag: "Paused", queue: context.options.queue })
})

/**
 * Whether no job of the worker's queue and names is waiting, delayed or active, whoever runs it. Parents that wait for the
 * children of a flow do not count: other workers may have those. Several names are looked at twice, so that a job of the
 * last name that enqueues one of the first as it ends is not missed.
 */
export const isEmpty = (context: WorkerContext): Effect.Effect<boolean, JobStoreError> =>
  Effect.gen(function* () {
    const found = (yield* findsWork(context)) || (context.options.names.length > 1 && (yield* findsWork(context)))
    if (found) yield* tellIfPaused(context)
    return !found
  }).pipe(
    Effect.catchIf(
      (error) => error.isRetryable,
      (error) => Effect.as(noteCall(context, error), false)
    )
  )
