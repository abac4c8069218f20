/** `jobwire work`: a worker that runs a program for each job. */
import { Console, Deferred, Effect, Option, Result } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { provideStore } from "../Connect.ts"
import { type ProgramCommand, shellCommand } from "../exec/Program.ts"
import { work as runWorker } from "../exec/Worker.ts"
import type { RunCounts, WorkerOptions } from "../exec/WorkerContext.ts"
import * as ExitCode from "../ExitCode.ts"
import { connectionFlags } from "../flags/Connection.ts"
import { durationFlag, formatDuration } from "../flags/Duration.ts"
import { jsonFlag, switchFlag } from "../flags/Switch.ts"
import { wholeFlag } from "../flags/Whole.ts"
import { AlreadyReported, CommandFailure } from "../output/Failure.ts"
import { writeEvents } from "../output/WorkerLog.ts"
import { splitProgram } from "../ProgramArguments.ts"
import { exitCodeOf, StopRequest } from "../Signals.ts"

const leastLeaseMs = 1000

const config = {
  names: Argument.String("name").pipe(
    Argument.withDescription(
      "The names of the jobs to take; behind -- a program with its arguments, instead of --exec"
    ),
    Argument.variadic({ min: 1 })
  ),
  queue: Flag.String("queue").pipe(
    Flag.withAlias("q"),
    Flag.withMetavar("name"),
    Flag.withDescription('The queue ("default" unless given)'),
    Flag.withDefault("default")
  ),
  exec: Flag.String("exec").pipe(
    Flag.withAlias("e"),
    Flag.withMetavar("command"),
    Flag.withDescription("The command line to run for each job, by sh -c"),
    Flag.optional
  ),
  concurrency: wholeFlag("concurrency", 1, 1000).pipe(
    Flag.withAlias("c"),
    Flag.withDescription("Programs at once (1 unless given)"),
    Flag.withDefault(1)
  ),
  lease: durationFlag("lease").pipe(
    Flag.withDescription(
      "How long a job stays ours without a heartbeat; one is sent at a third of it (30s unless given)"
    ),
    Flag.filter(
      (ms) => ms >= leastLeaseMs,
      () => `Expected at least ${formatDuration(leastLeaseMs)}`
    ),
    Flag.withDefault(30_000)
  ),
  grace: durationFlag("grace").pipe(
    Flag.withDescription(
      "How long a stopped program may go on after TERM before KILL (5s unless given, a third of the lease at most)"
    ),
    Flag.withDefault(5000)
  ),
  maxStalled: wholeFlag("max-stalled", 0, 1_000_000).pipe(
    Flag.withDescription("A job whose lease ran out more often than this fails (1 unless given)"),
    Flag.withDefault(1)
  ),
  untilEmpty: switchFlag(
    "until-empty",
    "End with 0 when none of these jobs is waiting, delayed or active in the queue"
  ),
  quiet: switchFlag("quiet", "Do not pass on what programs write to stderr"),
  json: jsonFlag,
  ...connectionFlags
}

type Input = Command.Command.Config.Infer<typeof config>

const refuse = (message: string, hint?: string) => new CommandFailure({ message, hint, exitCode: ExitCode.usage })

const programOf = (
  exec: Option.Option<string>,
  program: ReadonlyArray<string>
): Result.Result<ProgramCommand, CommandFailure> => {
  const [file, ...args] = program
  if (Option.isSome(exec) && file !== undefined) {
    return Result.fail(refuse("give the program either by --exec or behind --, not both"))
  }
  if (Option.isSome(exec) && exec.value.trim() !== "") return Result.succeed(shellCommand(exec.value))
  if (file !== undefined) return Result.succeed({ file, args })
  return Result.fail(
    refuse(
      "no program to run",
      "give a command line with --exec 'COMMAND', or a program behind --: -- PROGRAM ARGUMENTS"
    )
  )
}

const toOptions = (input: Input, names: ReadonlyArray<string>, command: ProgramCommand): WorkerOptions => ({
  queue: input.queue,
  names: [...new Set(names)],
  command,
  concurrency: input.concurrency,
  leaseMs: input.lease,
  graceMs: input.grace,
  maxStalled: input.maxStalled,
  untilEmpty: input.untilEmpty,
  // A program that calls `jobwire` itself reaches the same store.
  env: { JOBWIRE_URL: input.url, ...(Option.isSome(input.store) ? { JOBWIRE_STORE: input.store.value } : {}) },
  forwardStderr: !input.quiet,
  report: writeEvents(input.json)
})

const summary = (counts: RunCounts): string =>
  Object.entries(counts)
    .filter(([outcome, count]) => count > 0 || outcome === "completed")
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(", ")

/** The command. */
export const work = Command.make(
  "work",
  config,
  Effect.fn("work")(function* (input) {
    const { names, program } = splitProgram(input.names)
    if (names.length === 0)
      return yield* refuse("no job name", "say which jobs to take: jobwire work NAME… --exec COMMAND")
    const command = yield* Effect.fromResult(programOf(input.exec, program))
    const stop = yield* StopRequest
    yield* stop.handle
    const stopping = yield* Deferred.make<void>()
    yield* Effect.forkScoped(Effect.andThen(stop.asked, Deferred.succeed(stopping, undefined)))
    const result = yield* runWorker(toOptions(input, names, command), stopping)
    yield* input.json
      ? Console.log(JSON.stringify({ event: "done", empty: result.isEmpty, ...result.counts }))
      : Console.error(summary(result.counts))
    if (input.untilEmpty && !result.isEmpty)
      return yield* new AlreadyReported({ exitCode: exitCodeOf(yield* stop.asked) })
  }, Effect.scoped)
).pipe(
  provideStore,
  Command.withDescription(
    "Takes jobs by name and runs a program for each. The payload is on its stdin as JSON; JOBWIRE_ID, JOBWIRE_NAME,\n  " +
      "JOBWIRE_QUEUE, JOBWIRE_ATTEMPT and more are in its environment. Exit code 0 completes the job with stdout as the\n  " +
      `result, ${ExitCode.programFailsAtOnce} fails it at once, any other retries it by its backoff while it has attempts left.`
  ),
  Command.withShortDescription("Run a program for each job"),
  Command.withExamples([
    { command: `jobwire work mail --exec './send-mail.sh'`, description: "One at a time, until stopped" },
    {
      command: `jobwire work resize --concurrency 4 -- node resize.js --width 200`,
      description: "Four at once, no shell"
    },
    { command: `jobwire work import --until-empty --exec 'jq .name'`, description: "All there is, then end" }
  ])
)
