/** `jobwire enqueue`: puts in one job, or one a line of a file. */
import { type EnqueueRequest, JobStore, Limits } from "@jobwire/protocol"
import { Console, Effect, Exit, FileSystem, Option, type PlatformError, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import { provideStore } from "../Connect.ts"
import { jobFlags, problemOf, toRequest } from "../enqueue/Flags.ts"
import { lines } from "../enqueue/Lines.ts"
import { describeProgress, load, type LoadProgress } from "../enqueue/Load.ts"
import { type Input as ProgressInput, showProgress } from "../enqueue/Progress.ts"
import type { BadLine } from "../enqueue/Requests.ts"
import * as ExitCode from "../ExitCode.ts"
import { connectionFlags } from "../flags/Connection.ts"
import { jsonFlag } from "../flags/Switch.ts"
import { wholeFlag } from "../flags/Whole.ts"
import { AlreadyReported, CommandFailure, render } from "../output/Failure.ts"
import { fileProblem } from "../output/FileProblem.ts"

const config = {
  name: Argument.String("name").pipe(Argument.withDescription("The name of the job: workers take jobs by name")),
  source: Argument.String("-").pipe(
    Argument.withDescription("A lone - reads jobs from stdin, one a line"),
    Argument.optional
  ),
  payload: Flag.String("payload").pipe(
    Flag.withAlias("p"),
    Flag.withMetavar("json"),
    Flag.withDescription("The payload, as JSON (none unless given)"),
    Flag.optional
  ),
  file: Flag.String("file").pipe(
    Flag.withAlias("f"),
    Flag.withMetavar("path"),
    Flag.withDescription("One job a line of this file; - is stdin"),
    Flag.optional
  ),
  lines: Flag.Literals("lines", ["payload", "request"]).pipe(
    Flag.withDescription("What a line is: a payload (unless given), or a complete request"),
    Flag.withDefault("payload")
  ),
  parallel: wholeFlag("parallel", 1, 16).pipe(
    Flag.withDescription("Batches under way at once; above 1 the order of the file may get lost (1 unless given)"),
    Flag.withDefault(1)
  ),
  ...jobFlags,
  json: jsonFlag,
  ...connectionFlags
}

type Input = Command.Command.Config.Infer<typeof config>

const refuse = (message: string, hint?: string) => new CommandFailure({ message, hint, exitCode: ExitCode.usage })

const inputFile = Effect.fnUntraced(function* (input: Input) {
  const source = Option.getOrUndefined(input.source)
  if (source !== undefined && source !== "-") {
    return yield* refuse(
      `unexpected argument ${JSON.stringify(source)}`,
      "give the payload with --payload, a file with --file"
    )
  }
  const file = source ?? Option.getOrUndefined(input.file)
  if (source !== undefined && Option.isSome(input.file)) return yield* refuse("give either - or --file, not both")
  if (file !== undefined && Option.isSome(input.payload))
    return yield* refuse("give either --payload or a file, not both")
  const problem = problemOf(input, file !== undefined)
  if (problem !== undefined) return yield* refuse(problem)
  return file
})

const parsePayload = (text: string): Effect.Effect<unknown, CommandFailure> =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: (error) =>
      refuse(
        `--payload is not JSON: ${error instanceof Error ? error.message : String(error)}`,
        `a string needs its own quotes: --payload '"text"'`
      )
  })

const enqueueOne = Effect.fnUntraced(function* (input: Input) {
  const store = yield* JobStore.JobStore
  const payload = Option.isSome(input.payload) ? yield* parsePayload(input.payload.value) : undefined
  // An id that is known before the request is sent makes it safe to send it again when its answer is lost.
  const drawn = SecureRandom.uuidV7Unsafe()
  const id = Option.getOrElse(input.id, () => drawn)
  const request: EnqueueRequest = { ...toRequest(input.name, input), id, payload }
  const result = yield* store
    .enqueue(request)
    .pipe(Effect.retry({ while: (error) => error.isRetryable && error.mayHaveHappened, times: 2 }))
  const duplicate = result.duplicate && result.id !== drawn
  yield* Console.log(input.json ? JSON.stringify({ id: result.id, duplicate }) : result.id)
  if (duplicate && !input.json) yield* Console.error("nothing new: this job is there already")
})

interface Source {
  readonly bytes: Stream.Stream<Uint8Array, PlatformError.PlatformError>
  readonly total: number | undefined
}

const open = Effect.fnUntraced(function* (file: string) {
  if (file === "-") {
    const source: Source = { bytes: (yield* Stdio.Stdio).stdin, total: undefined }
    return source
  }
  const fs = yield* FileSystem.FileSystem
  const info = yield* fs.stat(file)
  const source: Source = { bytes: fs.stream(file), total: info.type === "File" ? Number(info.size) : undefined }
  return source
})

const cannotRead = (file: string) => (error: PlatformError.PlatformError) =>
  new CommandFailure({
    message: `cannot read ${file === "-" ? "stdin" : JSON.stringify(file)}: ${fileProblem(error)}`
  })

const tellBadLine =
  (json: boolean) =>
  ({ line, problem }: BadLine): Effect.Effect<void> =>
    Console.error(
      json
        ? JSON.stringify({ error: { kind: "BadLine", line, message: problem } })
        : render({ kind: "BadLine", message: `line ${line} ${problem}`, exitCode: ExitCode.failed }, false)
    )

const enqueueFile = Effect.fnUntraced(function* (input: Input, file: string) {
  const progress: LoadProgress = { line: 0, enqueued: 0, duplicates: 0, bad: 0 }
  const source = yield* Effect.mapError(open(file), cannotRead(file))
  const seen: ProgressInput = { bytesRead: 0, bytesTotal: source.total }
  const bytes = source.bytes.pipe(
    Stream.mapError(cannotRead(file)),
    Stream.map((chunk) => {
      seen.bytesRead += chunk.length
      return chunk
    })
  )
  const rules = {
    kind: input.lines,
    base: toRequest(input.name, input),
    idPrefix: Option.getOrUndefined(input.id),
    limits: yield* Limits.CurrentLimits
  }
  const loading = load(lines(bytes), { rules, parallel: input.parallel, progress, onBadLine: tellBadLine(input.json) })
  yield* loading.pipe(
    showProgress(progress, seen),
    Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : Console.error(stoppedAt(progress, input))))
  )
  const { bad, duplicates, enqueued } = progress
  yield* Console.log(input.json ? JSON.stringify({ enqueued, duplicates, bad }) : describeProgress(progress))
  if (bad > 0) return yield* new AlreadyReported({ exitCode: ExitCode.failed })
})

const stoppedAt = (progress: LoadProgress, input: Input): string => {
  const { bad, duplicates, enqueued, line } = progress
  if (input.json) return JSON.stringify({ stopped: { line, enqueued, duplicates, bad } })
  const again = Option.isSome(input.id) ? "" : "; with --id PREFIX a file may be sent again without doubling its jobs"
  return `stopped behind line ${line}: ${describeProgress(progress)}${again}`
}

/** The command. */
export const enqueue = Command.make(
  "enqueue",
  config,
  Effect.fn("enqueue")(function* (input) {
    const file = yield* inputFile(input)
    yield* file === undefined ? enqueueOne(input) : enqueueFile(input, file)
  })
).pipe(
  provideStore,
  Command.withDescription(
    "Puts in one job and prints its id, or one job a line of a file. Durations are like 500ms, 10s, 5m, 2h or 7d. A bad\n  " +
      "line is told with its number, the rest is enqueued, and the exit code is 1."
  ),
  Command.withShortDescription("Put in one job, or one a line of a file"),
  Command.withExamples([
    { command: `jobwire enqueue mail --payload '{"to":"ann@example.com"}'`, description: "One job" },
    {
      command: "jobwire enqueue mail --attempts 5 --backoff exponential:1s --timeout 30s",
      description: "Up to five runs, at 1 s, 2 s, 4 s, 8 s"
    },
    { command: "jobwire enqueue resize --file images.jsonl --id import-7", description: "One a line, safe to repeat" },
    { command: "jobwire enqueue report --delay 2h --dedupe daily", description: "Later, and once at most" }
  ])
)
