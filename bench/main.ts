/** The bench: runs what the command line asks for, prints the results, and writes them when told to. */
import { mkdirSync, writeFileSync } from "node:fs"
import { type Options, parseOptions, usage } from "./Options.ts"
import { Recorder } from "./Recorder.ts"
import { describeMachine } from "./report/machine.ts"
import { renderMarkdown } from "./report/markdown.ts"
import { plotsOf } from "./report/plots.ts"
import { none, readResults, type Results } from "./report/Results.ts"
import { run } from "./run.ts"
import { stopBeforeTheEnd } from "./services/atExit.ts"
import { type Postgres, startPostgres } from "./services/postgres.ts"

const at = (path: string): URL => new URL(path, import.meta.url)

const write = (results: Results): void => {
  writeFileSync(at("results.json"), `${JSON.stringify(results, null, 1)}\n`)
  writeFileSync(at("RESULTS.md"), renderMarkdown(results))
  mkdirSync(at("plots"), { recursive: true })
  for (const { name, svg } of plotsOf(results)) writeFileSync(at(`plots/${name}.svg`), svg)
}

const bench = async (options: Options): Promise<void> => {
  stopBeforeTheEnd()
  const earlier = options.write ? readResults(at("results.json")) : none
  const recorder = new Recorder(earlier, describeMachine(), options.rounds, options.write ? write : () => {})
  let started: Promise<Postgres> | undefined
  try {
    await run(options, () => (started ??= startPostgres()), recorder)
  } finally {
    await (await started)?.stop()
  }
  console.log(`\n${renderMarkdown(recorder.results)}`)
}

/** Runs it with these arguments. */
export const main = async (args: ReadonlyArray<string>): Promise<void> => {
  const start = performance.now()
  const options = parseOptions(args)
  if (options === "help") return console.log(usage)
  await bench(options)
  console.log(`took ${Math.round((performance.now() - start) / 1000)} s`)
}
