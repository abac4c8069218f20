/** The raw results, as they are kept in `results.json`: every figure of every round, and the run that it was measured in. */
import { readFileSync } from "node:fs"

/** One figure: its values, a round each, and the run in which they were measured beside each other. */
export interface Cell {
  readonly values: ReadonlyArray<number>
  readonly run: string
}

/** A run of the bench. */
export interface Run {
  readonly machine: string
  readonly services: ReadonlyArray<string>
  readonly rounds: number
}

/** What went wrong, or who was left out and why. */
export interface Trouble {
  readonly run: string
  readonly message: string
}

/** Everything that is known. Cells and troubles by contender, then by figure or workload; runs by their name, the time they began. */
export interface Results {
  readonly runs: Readonly<Record<string, Run>>
  readonly cells: Readonly<Record<string, Readonly<Record<string, Cell>>>>
  readonly troubles: Readonly<Record<string, Readonly<Record<string, Trouble>>>>
}

/** Nothing was measured. */
export const none: Results = { runs: {}, cells: {}, troubles: {} }

/** Reads them; nothing when there is no file yet. */
export const readResults = (path: URL): Results => {
  try {
    // The bench wrote the file.
    return JSON.parse(readFileSync(path, "utf8")) as Results
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return none
    throw error
  }
}

type Table<A> = Readonly<Record<string, Readonly<Record<string, A>>>>

const put = <A>(table: Table<A>, row: string, column: string, value: A): Table<A> => ({
  ...table,
  [row]: { ...table[row], [column]: value }
})

const without = <A>(table: Table<A>, row: string, column: string): Table<A> => ({
  ...table,
  [row]: Object.fromEntries(Object.entries(table[row] ?? {}).filter(([key]) => key !== column))
})

/** The run that values are about to come from, or what is now known of it. */
export const addRun = (results: Results, name: string, run: Run): Results => ({
  ...results,
  runs: { ...results.runs, [name]: run }
})

/** One more value. The values of an earlier run make room for it. */
export const addValue = (results: Results, run: string, contender: string, figure: string, value: number): Results => {
  const earlier = results.cells[contender]?.[figure]
  // More digits than this say nothing.
  const rounded = Number(value.toPrecision(5))
  const values = earlier?.run === run ? [...earlier.values, rounded] : [rounded]
  return { ...results, cells: put(results.cells, contender, figure, { values, run }) }
}

/** A workload that failed or was left out. */
export const addTrouble = (
  results: Results,
  run: string,
  contender: string,
  workload: string,
  message: string
): Results => ({ ...results, troubles: put(results.troubles, contender, workload, { run, message }) })

/** What an earlier run said about a workload that is measured again. */
export const forgetTrouble = (results: Results, run: string, contender: string, workload: string): Results => {
  const known = results.troubles[contender]?.[workload]
  return known === undefined || known.run === run
    ? results
    : { ...results, troubles: without(results.troubles, contender, workload) }
}

/** The runs that something still comes from. */
export const dropEmptyRuns = (results: Results): Results => {
  const rows = [...Object.values(results.cells), ...Object.values(results.troubles)]
  const used = new Set(rows.flatMap((row) => Object.values(row).map(({ run }) => run)))
  return { ...results, runs: Object.fromEntries(Object.entries(results.runs).filter(([name]) => used.has(name))) }
}

/** The middle of the values; of two, the lower. */
export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN
