/**
 * Running a program for a job: its own process group, its input, its output in bounded memory, and its end.
 *
 * Node's own module is used rather than Effect's spawner, which tells the signal that ended a program only in words.
 */
import { Clock, Data, Deferred, Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { Output } from "./Output.ts"
import * as ProcessGroup from "./ProcessGroup.ts"

/** What to run: a program and its arguments. */
export interface ProgramCommand {
  readonly file: string
  readonly args: ReadonlyArray<string>
}

/** A command line for the shell. */
export const shellCommand = (line: string): ProgramCommand => ({ file: "/bin/sh", args: ["-c", line] })

/** The program could not be started, so no job can be run by it. */
export class ProgramStartError extends Data.TaggedError("ProgramStartError")<{
  readonly file: string
  readonly code: string
  readonly message: string
}> {}

/** How a program ended: by itself with a code, or by a signal. */
export interface ProgramEnd {
  readonly code: number | undefined
  readonly signal: string | undefined
  readonly stdout: Output
  readonly stderr: Output
}

/** A program that runs. */
export interface Program {
  /** Resolves when the program has ended, its output was read, and nothing of its process group is left. */
  readonly ended: Effect.Effect<ProgramEnd>
  /** Resolves as soon as the program itself has ended. */
  readonly exited: Effect.Effect<void>
  /** Sends TERM to the process group, and KILL after `graceMs`; resolves when the program has ended. */
  readonly stop: (graceMs: number) => Effect.Effect<void>
}

/** How to run a program. */
export interface ProgramOptions {
  readonly env: Record<string, string | undefined>
  readonly input: string
  readonly stdoutLimit: number
  readonly stderrLimit: number
  /** Gets what the program writes to stderr while it writes it. */
  readonly onStderr: (chunk: Buffer) => void
}

const tailBytes = 16_384

// How long output may still come after the program itself has ended.
const outputMs = 1000

// How long processes that the program left behind, and that hold none of its output, may go on after TERM.
const leftoverMs = 100

interface Started {
  readonly child: ChildProcess
  readonly exit: Deferred.Deferred<Pick<ProgramEnd, "code" | "signal">>
  readonly closed: Deferred.Deferred<void>
}

const startError = (file: string, error: NodeJS.ErrnoException): ProgramStartError => {
  const code = error.code ?? "unknown"
  const why = code === "ENOENT" ? "it was not found" : code === "EACCES" ? "it may not be executed" : error.message
  return new ProgramStartError({ file, code, message: `the program ${JSON.stringify(file)} cannot be started: ${why}` })
}

const launch = ({ args, file }: ProgramCommand, env: ProgramOptions["env"]) =>
  Effect.callback<Started, ProgramStartError>((resume) => {
    const exit = Deferred.makeUnsafe<Pick<ProgramEnd, "code" | "signal">>()
    const closed = Deferred.makeUnsafe<void>()
    const child = spawn(file, args, { detached: true, env, stdio: "pipe" })
    child.once("error", (error) => resume(Effect.fail(startError(file, error))))
    child.once("spawn", () => {
      if (child.pid !== undefined) ProcessGroup.remember(child.pid)
      resume(Effect.succeed({ child, exit, closed }))
    })
    child.once("exit", (code, signal) =>
      Deferred.doneUnsafe(exit, Effect.succeed({ code: code ?? undefined, signal: signal ?? undefined }))
    )
    child.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
  })

const connect = ({ child }: Started, options: ProgramOptions) => {
  const stdout = new Output(options.stdoutLimit, tailBytes)
  const stderr = new Output(options.stderrLimit, options.stderrLimit)
  child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk))
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr.push(chunk)
    options.onStderr(chunk)
  })
  // A program need not read its input: a broken pipe is no fault.
  child.stdin?.on("error", () => {})
  child.stdin?.end(options.input)
  return { stdout, stderr }
}

/** Starts the program. It ends with the scope, at the latest. */
export const start = Effect.fnUntraced(function* (
  command: ProgramCommand,
  options: ProgramOptions
): Effect.fn.Return<Program, ProgramStartError, Scope.Scope> {
  const started = yield* Effect.acquireRelease(launch(command, options.env), (each) => stop(each, 0))
  const { child, closed, exit } = started
  const output = connect(started, options)
  const cleanUp = Effect.gen(function* () {
    yield* Effect.timeoutOption(Deferred.await(closed), outputMs)
    if (child.pid !== undefined) yield* ProcessGroup.end(child.pid, leftoverMs)
    child.stdout?.destroy()
    child.stderr?.destroy()
  })
  const ended = Effect.map(Effect.tap(Deferred.await(exit), cleanUp), (end) => ({ ...end, ...output }))
  return {
    ended,
    exited: Effect.asVoid(Deferred.await(exit)),
    stop: (graceMs) => stop(started, graceMs)
  }
})

const stop = ({ child, closed, exit }: Started, graceMs: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (child.pid === undefined) return
    const deadline = (yield* Clock.currentTimeMillis) + graceMs
    if (!Deferred.isDoneUnsafe(exit)) {
      ProcessGroup.signal(child.pid, "SIGTERM")
      yield* Effect.timeoutOption(Deferred.await(exit), graceMs)
    }
    if (!Deferred.isDoneUnsafe(exit)) ProcessGroup.signal(child.pid, "SIGKILL")
    yield* Deferred.await(exit)
    // What the program started has had TERM too, and may take its time as long as it holds the output.
    const left = Math.max(0, deadline - (yield* Clock.currentTimeMillis))
    yield* Effect.timeoutOption(Deferred.await(closed), left)
    yield* ProcessGroup.end(child.pid, Math.min(left, leftoverMs))
  })
