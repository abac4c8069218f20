/**
 * `jobwire work NAME -- PROGRAM ARGUMENTS`. The parser of the command line puts what stands behind `--` among the other
 * arguments; so `work` gets the mark twice, and finds the second one among its names.
 */

const mark = "--"

// No flag that may stand before the command takes a word of its own.
const commandOf = (args: ReadonlyArray<string>): string | undefined => args.find((word) => !word.startsWith("-"))

/** The command line as it is to be parsed. */
export const markProgram = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.indexOf(mark)
  if (end === -1 || commandOf(args.slice(0, end)) !== "work") return args
  return [...args.slice(0, end + 1), mark, ...args.slice(end + 1)]
}

/** The names of `work`, and the program behind them. */
export const splitProgram = (
  names: ReadonlyArray<string>
): { readonly names: ReadonlyArray<string>; readonly program: ReadonlyArray<string> } => {
  const end = names.indexOf(mark)
  return end === -1 ? { names, program: [] } : { names: names.slice(0, end), program: names.slice(end + 1) }
}
