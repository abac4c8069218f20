/** SIGINT, SIGTERM and SIGHUP: the first asks the command to stop in good order, a second one ends it at once. */
import { Context, Deferred, Effect } from "effect"
import * as ExitCode from "./ExitCode.ts"

const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** A signal that asks to stop. */
export type StopSignal = (typeof names)[number]

/** Whether and by what the command was asked to stop. */
export class StopRequest extends Context.Service<
  StopRequest,
  {
    /** Resolves with the first signal. A command that waits for it stops by itself; any other one is interrupted. */
    readonly asked: Effect.Effect<StopSignal>
    /** Stops in good order instead of being interrupted. */
    readonly handle: Effect.Effect<void>
  }
>()("jobwire/StopRequest") {}

/** The exit code of a command that a signal ended. */
export const exitCodeOf = (signal: StopSignal): number => ExitCode.signalled[signal]

/** The signals of this process, as they come. */
export interface Listening {
  readonly service: StopRequest["Service"]
  /** Resolves with the signal when no command has said that it stops by itself. */
  readonly interrupted: Effect.Effect<StopSignal>
}

/** Listens to the signals of this process. */
export const listen: Effect.Effect<Listening> = Effect.sync(() => {
  const asked = Deferred.makeUnsafe<StopSignal>()
  const interrupted = Deferred.makeUnsafe<StopSignal>()
  let isHandled = false
  for (const name of names) {
    process.on(name, () => {
      if (Deferred.isDoneUnsafe(asked)) process.exit(exitCodeOf(name))
      Deferred.doneUnsafe(asked, Effect.succeed(name))
      if (!isHandled) Deferred.doneUnsafe(interrupted, Effect.succeed(name))
    })
  }
  return {
    service: {
      asked: Deferred.await(asked),
      handle: Effect.sync(() => {
        isHandled = true
      })
    },
    interrupted: Deferred.await(interrupted)
  }
})
