/** `jobwire jobs retry | cancel | promote | remove`: acts on jobs by id, each on its own. */
import { JobStore, JobStoreError } from "@jobwire/protocol"
import { Console, Effect, Option, Result } from "effect"
import { Argument, Command } from "effect/cli"
import { provideStore } from "../../Connect.ts"
import * as ExitCode from "../../ExitCode.ts"
import { connectionFlags } from "../../flags/Connection.ts"
import { jsonFlag } from "../../flags/Switch.ts"
import { AlreadyReported, CommandFailure, render, show, type StoreFailure } from "../../output/Failure.ts"
import { oneLine } from "../../output/Text.ts"

type ActionFailure = StoreFailure | CommandFailure

interface Action {
  readonly name: string
  /** What was done, for `ID: done` lines. */
  readonly done: string
  readonly description: string
  readonly short: string
  readonly run: (store: JobStore.Service, id: string) => Effect.Effect<string | void, ActionFailure>
}

// A failure that is not about this one job ends the command: the next job would meet it too.
const endsAll = (error: ActionFailure): error is JobStoreError =>
  error instanceof JobStoreError && error.reason._tag !== "InvalidArgument" && error.reason._tag !== "LimitExceeded"

const actOn = Effect.fnUntraced(function* (action: Action, id: string, json: boolean) {
  const store = yield* JobStore.JobStore
  const outcome = yield* Effect.result(action.run(store, id))
  if (Result.isSuccess(outcome)) {
    const what = outcome.success ?? action.done
    yield* Console.log(json ? JSON.stringify({ id, done: true, what }) : `${oneLine(id)}: ${what}`)
    return true
  }
  if (endsAll(outcome.failure)) return yield* outcome.failure
  yield* Console.error(render(show(outcome.failure), json))
  if (json) yield* Console.log(JSON.stringify({ id, done: false }))
  return false
})

const actionCommand = (action: Action) =>
  Command.make(
    action.name,
    {
      ids: Argument.String("id").pipe(Argument.withDescription("The ids of the jobs"), Argument.variadic({ min: 1 })),
      json: jsonFlag,
      ...connectionFlags
    },
    Effect.fn(`jobs.${action.name}`)(function* ({ ids, json }) {
      const outcomes = yield* Effect.forEach(ids, (id) => actOn(action, id, json))
      if (!outcomes.every(Boolean)) return yield* new AlreadyReported({ exitCode: ExitCode.failed })
    })
  ).pipe(
    provideStore,
    Command.withDescription(action.description),
    Command.withShortDescription(action.short),
    Command.withExamples([
      { command: `jobwire jobs ${action.name} 0198c1e2`, description: "One job; more ids may follow" }
    ])
  )

/** Runs failed jobs again. */
export const retry = actionCommand({
  name: "retry",
  done: "waiting again",
  description: "Runs failed jobs again: each goes to the back of the line with all its attempts. Its ledger is kept.",
  short: "Run failed jobs again",
  run: (store, id) => store.retry(id)
})

/** Cancels jobs. */
export const cancel = actionCommand({
  name: "cancel",
  done: "cancelled",
  description:
    "Cancels jobs: at once when nobody runs them. One that runs is asked for; its worker stops it at the next heartbeat.",
  short: "Cancel jobs",
  run: (store, id) =>
    store.cancel(id).pipe(
      Effect.andThen(Effect.option(store.getJob(id))),
      Effect.map((job) =>
        Option.exists(Option.flatten(job), ({ state }) => state === "active")
          ? "cancel requested, its worker will stop it"
          : "cancelled"
      )
    )
})

/** Makes delayed jobs waiting. */
export const promote = actionCommand({
  name: "promote",
  done: "waiting now",
  description: "Makes delayed jobs waiting now, whenever they were due.",
  short: "Make delayed jobs waiting now",
  run: (store, id) => store.promote(id)
})

const whyNotRemoved = Effect.fnUntraced(function* (store: JobStore.Service, id: string) {
  const job = Option.flatten(yield* Effect.option(store.getJob(id)))
  return new CommandFailure({
    message: Option.match(job, {
      onNone: () => `there is no job ${JSON.stringify(id)}`,
      onSome: ({ state }) =>
        `job ${JSON.stringify(id)} is ${state}: it cannot be removed until it is not; cancel it first`
    })
  })
})

/** Deletes jobs. */
export const remove = actionCommand({
  name: "remove",
  done: "removed",
  description: "Deletes jobs with their ledgers. One that is active or waits for children is not removed.",
  short: "Delete jobs",
  run: (store, id) =>
    Effect.flatMap(store.remove(id), (removed) =>
      removed ? Effect.void : Effect.flatMap(whyNotRemoved(store, id), Effect.fail)
    )
})
