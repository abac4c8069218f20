/** The whole command line: `jobwire` and its commands, run for a list of arguments. */
import { NodeServices } from "@effect/platform-node"
import { Cause, Console, Effect, Layer, Logger } from "effect"
import { CliConfig, CliError, CliOutput, Command, GlobalFlag } from "effect/cli"
import { readFileSync } from "node:fs"
import { counts } from "./commands/counts.ts"
import { enqueue } from "./commands/enqueue.ts"
import { jobs } from "./commands/jobs.ts"
import { migrate } from "./commands/migrate.ts"
import { queues } from "./commands/queues.ts"
import { serve } from "./commands/serve.ts"
import { work } from "./commands/work.ts"
import * as ExitCode from "./ExitCode.ts"
import { asksForJson } from "./flags/Switch.ts"
import { AlreadyReported, render, show } from "./output/Failure.ts"
import * as Help from "./output/Help.ts"
import { markProgram } from "./ProgramArguments.ts"
import { exitCodeOf, type Listening, StopRequest } from "./Signals.ts"

/** `jobwire` with all its commands. */
export const jobwire = Command.make("jobwire").pipe(
  Command.withDescription(
    "A job store behind HTTP. `jobwire serve` starts one; the other commands talk to it at --url or JOBWIRE_URL\n  " +
      "(http://127.0.0.1:7077 unless given), with the token in JOBWIRE_TOKEN if it wants one."
  ),
  Command.withSubcommands([serve, migrate, enqueue, work, counts, jobs, queues]),
  Command.withExamples([
    { command: "jobwire serve", description: "In one terminal: a server" },
    { command: `jobwire enqueue greet --payload '"world"'`, description: "In another: a job" },
    {
      command: "jobwire work greet --until-empty --exec 'read name; echo hello $name'",
      description: "And a worker for it"
    },
    { command: "jobwire jobs list", description: "What became of it" }
  ])
)

const version = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown"
}

const layer = (json: boolean) =>
  Layer.mergeAll(
    NodeServices.layer,
    CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
    CliOutput.layer(CliOutput.defaultFormatter({ globalFlags: "summary" })),
    CliOutput.layerPresenter(Help.presenter(json)),
    // stdout is for results.
    Layer.succeed(Logger.LogToStderr, true)
  )

const exitCodeFor = (cause: Cause.Cause<unknown>, json: boolean): Effect.Effect<number> => {
  const error = Cause.squash(cause)
  if (error instanceof AlreadyReported) return Effect.succeed(error.exitCode)
  // The presenter has shown what was wrong, or the help of a command that needs another word.
  if (CliError.isCliError(error)) return Effect.succeed(ExitCode.usage)
  const shown = show(error)
  return Effect.as(Console.error(render(shown, json)), shown.exitCode)
}

/** Runs the command line and gives the exit code. What it has to say is on stdout and stderr by then. */
export const run = (args: ReadonlyArray<string>, signals: Listening): Effect.Effect<number> => {
  const json = asksForJson(args)
  const command = Command.runWith(jobwire, { version: version() })(markProgram(args))
  return Effect.raceFirst(Effect.as(command, ExitCode.done), Effect.map(signals.interrupted, exitCodeOf)).pipe(
    Effect.provideService(StopRequest, signals.service),
    Effect.provide(layer(json)),
    Effect.catchCause((cause) => exitCodeFor(cause, json))
  )
}
