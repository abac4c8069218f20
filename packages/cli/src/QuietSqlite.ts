/**
 * Node warns on some versions that `node:sqlite` is experimental. This is known and decided (ARCHITECTURE.md), and of no use to
 * those who run the command; every other warning is shown. To be imported before anything that loads `node:sqlite`.
 */

const emitWarning = process.emitWarning.bind(process)

const isAboutSqlite = (warning: string | Error): boolean =>
  (typeof warning === "string" ? warning : warning.message).startsWith("SQLite is an experimental feature")

process.emitWarning = (warning: string | Error, ...rest: Array<unknown>): void => {
  if (isAboutSqlite(warning)) return
  // The overloads of `emitWarning` cannot be spread one by one; the arguments go on as they came.
  Reflect.apply(emitWarning, process, [warning, ...rest])
}
