/** The entry of `jobwire`. */
import "effect/schema/SchemaJITCompiler/enable"
// It acts by being imported: nothing may load `node:sqlite` before.
// oxlint-disable-next-line import/no-unassigned-import
import "./QuietSqlite.ts"
import { Effect } from "effect"
import { run } from "./Cli.ts"
import { listen } from "./Signals.ts"

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1))

// Into a pipe, writes go on after they have returned: what the reader has not taken yet would be lost by ending now.
const exitWhenWritten = () => process.stdout.write("", () => process.stderr.write("", () => process.exit()))

const main = Effect.flatMap(listen, (signals) => run(process.argv.slice(2), signals))

Effect.runCallback(main, {
  onExit: (exit) => {
    process.exitCode = exit._tag === "Success" ? exit.value : 1
    exitWhenWritten()
  }
})
