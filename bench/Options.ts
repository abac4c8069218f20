/** What `npm run bench -- …` can be told. */
import { parseArgs } from "node:util"
import type { Contender } from "./contenders/Contender.ts"
import { contenders } from "./contenders/list.ts"
import { type Limit, limits } from "./limits/list.ts"
import { workloads } from "./workloads/list.ts"
import { full, quick, type Scale } from "./workloads/Scale.ts"
import type { Workload } from "./workloads/Workload.ts"

/** What is to be done. */
export interface Options {
  readonly contenders: ReadonlyArray<Contender>
  readonly limits: ReadonlyArray<Limit>
  readonly workloads: ReadonlyArray<Workload>
  readonly scale: Scale
  /** How many rounds a workload is measured in. */
  readonly roundsOf: (workload: { readonly long?: boolean }) => number
  readonly rounds: number
  /** Whether the results are written into the repository. */
  readonly write: boolean
}

const namesOf = (all: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<string> => all.map(({ name }) => name)

/** What it says of itself. */
export const usage = `npm run bench -- [options]

  --only a,b       these contenders and limits only: names, or the beginnings of names up to a dash
  --workload a,b   these workloads only
  --rounds n       so many rounds: 3 unless given, and 1 for the long workloads
  --quick          small sizes and one round, for trying; its figures say nothing
  --write          put the results into bench/results.json, bench/RESULTS.md and bench/plots; those that were not measured stay

contenders: ${namesOf(contenders).join(", ")}
limits: ${namesOf(limits).join(", ")}
workloads: ${namesOf(workloads).join(", ")}`

/** What was asked for cannot be done. */
export class UsageError extends Error {}

const words = (text: string | undefined): ReadonlyArray<string> | undefined =>
  text?.split(",").filter((word) => word !== "")

/** Those of the names that a word means: the one that it is, else those that it begins. */
const meant = (word: string, names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const found = names.includes(word) ? [word] : names.filter((name) => name.startsWith(`${word}-`))
  if (found.length === 0)
    throw new UsageError(`nothing is called ${JSON.stringify(word)}: there are ${names.join(", ")}`)
  return found
}

const chosen = <A extends { readonly name: string }>(all: ReadonlyArray<A>, names: ReadonlySet<string> | undefined) =>
  names === undefined ? all : all.filter(({ name }) => names.has(name))

const namesMeant = (text: string | undefined, names: ReadonlyArray<string>): ReadonlySet<string> | undefined => {
  const given = words(text)
  return given === undefined ? undefined : new Set(given.flatMap((word) => meant(word, names)))
}

const parseRounds = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const rounds = Number(text)
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new UsageError(`--rounds must be a whole number above 0, and is ${text}`)
  return rounds
}

const parse = (args: ReadonlyArray<string>) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: "boolean", default: false },
        only: { type: "string" },
        workload: { type: "string" },
        rounds: { type: "string" },
        quick: { type: "boolean", default: false },
        write: { type: "boolean", default: false }
      }
    }).values
  } catch (error) {
    if (error instanceof TypeError && "code" in error)
      throw new UsageError(`${error.message}\n\n${usage}`, { cause: error })
    throw error
  }
}

/** Reads the command line. */
export const parseOptions = (args: ReadonlyArray<string>): Options | "help" => {
  const { help, only, quick: isQuick, rounds, workload, write } = parse(args)
  if (help) return "help"
  const wanted = namesMeant(only, namesOf([...contenders, ...limits]))
  const wantedWorkloads = namesMeant(workload, namesOf(workloads))
  if (isQuick && write) throw new UsageError("--quick is for trying: its figures are not written")
  const given = parseRounds(rounds)
  const usual = given ?? (isQuick ? 1 : 3)
  return {
    contenders: chosen(contenders, wanted),
    limits: chosen(limits, wanted),
    workloads: chosen(workloads, wantedWorkloads),
    scale: isQuick ? quick : full,
    roundsOf: ({ long }) => given ?? (long === true ? 1 : usual),
    rounds: usual,
    write
  }
}
