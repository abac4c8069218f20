/** Help on stdout, and what is wrong with a command line on stderr. */
import { Console, Effect } from "effect"
import { type CliError, CliOutput, type HelpDoc } from "effect/cli"
import { render } from "./Failure.ts"
import * as ExitCode from "../ExitCode.ts"

// A switch has no value that a reader must know of.
const withoutSwitchValues = (doc: HelpDoc.HelpDoc): HelpDoc.HelpDoc => ({
  ...doc,
  flags: doc.flags.map((flag) => (flag.type === "[=boolean]" ? { ...flag, type: "boolean" } : flag))
})

// Where the command is not known, its flags are not either.
const relevant = (errors: ReadonlyArray<CliError.NonShowHelpErrors>): ReadonlyArray<CliError.NonShowHelpErrors> => {
  const unknown = errors.filter(({ _tag }) => _tag === "UnknownSubcommand")
  return unknown.length > 0 ? unknown : errors
}

const usageProblem = (
  all: ReadonlyArray<CliError.NonShowHelpErrors>,
  commandPath: ReadonlyArray<string>,
  json: boolean
): string => {
  const errors = relevant(all)
  return errors
    .map(({ message }, index) => {
      const hint = index === errors.length - 1 ? `${commandPath.join(" ")} --help says how to use it` : undefined
      return render({ kind: "Usage", message, hint, exitCode: ExitCode.usage }, json)
    })
    .join("\n")
}

/** How help, versions and bad command lines are shown. */
export const presenter = (json: boolean): CliOutput.Presenter => ({
  present: Effect.fnUntraced(function* (event) {
    const formatter = yield* CliOutput.Formatter
    switch (event._tag) {
      case "Help":
        return yield* Console.log(formatter.formatHelpDoc(withoutSwitchValues(event.helpDoc)))
      case "InvalidInvocation":
        return yield* Console.error(usageProblem(event.errors, event.commandPath, json))
      case "Version":
        return yield* Console.log(event.version)
    }
  })
})
