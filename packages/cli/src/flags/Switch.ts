/** Flags that are there or not. */
import { Flag } from "effect/cli"

/**
 * A flag that is false unless given. Unlike a plain `Flag.Boolean` it never takes the next word for its value, so that
 * `--json 1` leaves the job id `1` alone.
 */
export const switchFlag = (name: string, description: string): Flag.Flag<boolean> =>
  Flag.Boolean(name).pipe(
    Flag.withOptionalValue("true"),
    Flag.withoutNegation,
    Flag.withDescription(description),
    Flag.withDefault(false)
  )

/** Results as JSON on stdout, errors as JSON on stderr. */
export const jsonFlag = switchFlag("json", "Print JSON for programs; errors too, on stderr")

/** Whether a command line asks for JSON; works also for one that cannot be parsed. */
export const asksForJson = (args: ReadonlyArray<string>): boolean => {
  const end = args.indexOf("--")
  return (end === -1 ? args : args.slice(0, end)).includes("--json")
}
