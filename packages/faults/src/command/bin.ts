/** The entry of `jobwire-faults`. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer, Logger } from "effect"
import { CliConfig, CliError, Command, GlobalFlag } from "effect/cli"
import { readFileSync } from "node:fs"
import { FaultsError } from "../FaultsError.ts"
import { jobwireFaults } from "./Command.ts"

const version = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown"
}

const exitWith = (code: number): Effect.Effect<void> =>
  Effect.sync(() => {
    process.exitCode = code
  })

const layer = Layer.mergeAll(
  NodeServices.layer,
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
  // stdout is for the URL.
  Layer.succeed(Logger.LogToStderr, true)
)

const main = Command.run(jobwireFaults, { version: version() }).pipe(
  Effect.catch((error) => {
    // What is wrong with the command line was shown already.
    if (CliError.isCliError(error)) return exitWith(2)
    const problem = error instanceof FaultsError ? error.message : String(error)
    return Effect.andThen(Console.error(`jobwire-faults: ${problem}`), exitWith(1))
  }),
  Effect.provide(layer)
)

// To be ended by a signal is how it ends in good order.
NodeRuntime.runMain(main, { teardown: (_exit, end) => end(Number(process.exitCode ?? 0)) })
