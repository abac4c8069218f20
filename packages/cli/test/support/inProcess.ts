/** The command line in this process, on a store of the test or at a server. */
import { JobStore } from "@jobwire/protocol"
import { MemoryJobStore } from "@jobwire/server"
import { Console, Effect, Layer } from "effect"
import { run } from "../../src/Cli.ts"
import { Connector } from "../../src/Connect.ts"
import { TerminalWidth } from "../../src/output/Table.ts"

/** What a command printed, and its exit code. */
export interface Printed {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const noSignals = { service: { asked: Effect.never, handle: Effect.void }, interrupted: Effect.never }

const consoleInto = (stdout: Array<string>, stderr: Array<string>): Console.Console => ({
  ...console,
  log: (...args: ReadonlyArray<unknown>) => stdout.push(args.join(" ")),
  error: (...args: ReadonlyArray<unknown>) => stderr.push(args.join(" "))
})

/** Runs a command line with what it prints caught. */
const caught = (args: ReadonlyArray<string>): Effect.Effect<Printed> =>
  Effect.suspend(() => {
    const stdout: Array<string> = []
    const stderr: Array<string> = []
    return run(args, noSignals).pipe(
      Effect.provideService(Console.Console, consoleInto(stdout, stderr)),
      Effect.provideService(TerminalWidth, 80),
      Effect.map((code) => ({ code, stdout: stdout.join("\n"), stderr: stderr.join("\n") }))
    )
  })

/** A command line as it stands. */
export const command = (...args: ReadonlyArray<string>): Promise<Printed> => Effect.runPromise(caught(args))

/** A command line on a store of this process. */
export const jobwire =
  (store: JobStore.Service) =>
  (...args: ReadonlyArray<string>): Effect.Effect<Printed> =>
    Effect.provideService(caught(args), Connector, () => Layer.succeed(JobStore.JobStore, store))

/** A command line that talks to the server at this URL, without the wait for a process of its own. */
export const jobwireAt =
  (url: string) =>
  (...args: ReadonlyArray<string>): Promise<Printed> =>
    Effect.runPromise(caught([...args, "--url", url]))

/** Runs a test with a fresh store and the commands on it. */
export const withCommands = <A, E>(
  use: (command: ReturnType<typeof jobwire>, store: JobStore.Service) => Effect.Effect<A, E>
): Promise<A> =>
  Effect.runPromise(
    Effect.provide(
      Effect.flatMap(JobStore.JobStore, (store) => use(jobwire(store), store)),
      MemoryJobStore.layer
    )
  )
