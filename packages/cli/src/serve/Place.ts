/** Where `jobwire serve` keeps its jobs, as the command line and the environment say it. */
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { addressOf, type Database, databaseFlags, findDatabase } from "../database/Database.ts"
import * as ExitCode from "../ExitCode.ts"
import { switchFlag } from "../flags/Switch.ts"
import { wholeFlag } from "../flags/Whole.ts"
import { CommandFailure } from "../output/Failure.ts"

/** A place for jobs, and how it is used. */
export type Place =
  | { readonly _tag: "Memory" }
  | { readonly _tag: "Directory"; readonly data: string; readonly synchronous: "full" | "normal" }
  | {
      readonly _tag: "Postgres"
      readonly database: Database
      readonly migrate: boolean
      readonly hotConnections: number | undefined
      readonly calmConnections: number | undefined
    }

/** The flags that say it. */
export const placeFlags = {
  data: Flag.String("data").pipe(
    Flag.withMetavar("directory"),
    Flag.withDescription("Keep the jobs in this directory (./.jobwire unless given); it is made when it is missing"),
    Flag.optional
  ),
  synchronous: Flag.Literals("synchronous", ["full", "normal"]).pipe(
    Flag.withDescription(
      "There, full survives a power cut (unless given), normal only the end of the process, and is faster"
    ),
    Flag.optional
  ),
  memory: switchFlag("memory", "Keep the jobs in memory: they are gone when the server ends"),
  ...databaseFlags,
  migrate: switchFlag("migrate", "First bring that schema to this version's layout, as `jobwire migrate` does"),
  hotConnections: wholeFlag("hot-connections", 1, 1000).pipe(
    Flag.withDescription("Connections to the database for workers and producers, at most (6 unless given)"),
    Flag.optional
  ),
  calmConnections: wholeFlag("calm-connections", 1, 1000).pipe(
    Flag.withDescription("Connections to the database for lists, at most (3 unless given)"),
    Flag.optional
  )
}

type Flags = typeof placeFlags

/** What the flags hold once they are parsed. */
export type PlaceInput = { readonly [Name in keyof Flags]: Flags[Name] extends Flag.Flag<infer A> ? A : never }

const usage = (message: string, hint?: string) => new CommandFailure({ message, hint, exitCode: ExitCode.usage })

/** The place in words, to stand behind `jobs are kept`. */
export const describePlace = (place: Place): string => {
  switch (place._tag) {
    case "Memory":
      return "in memory, for as long as this process lives"
    case "Directory":
      return `in ${place.data}`
    case "Postgres": {
      const { schema } = place.database
      return `in PostgreSQL at ${addressOf(place.database)}${schema === undefined ? "" : `, schema ${schema}`}`
    }
  }
}

// A flag of another kind of place would be left without effect, and whoever gave it would not know.
const strayFlag = (place: Place, input: PlaceInput): string | undefined => {
  const ofDirectory = { synchronous: Option.isSome(input.synchronous) }
  const ofDatabase = {
    schema: Option.isSome(input.schema),
    migrate: input.migrate,
    "hot-connections": Option.isSome(input.hotConnections),
    "calm-connections": Option.isSome(input.calmConnections)
  }
  const others = {
    ...(place._tag === "Directory" ? {} : ofDirectory),
    ...(place._tag === "Postgres" ? {} : ofDatabase)
  }
  return Object.entries(others).find(([, given]) => given)?.[0]
}

const named = (input: PlaceInput): ReadonlyArray<string> => [
  ...(Option.isSome(input.data) ? ["--data"] : []),
  ...(input.memory ? ["--memory"] : []),
  ...(Option.isSome(input.databaseUrl) ? ["--database-url"] : [])
]

const placeOf = Effect.fnUntraced(function* (input: PlaceInput) {
  if (input.memory) return { _tag: "Memory" } satisfies Place
  const database = Option.isSome(input.data) ? Option.none<Database>() : yield* findDatabase(input)
  if (Option.isNone(database)) {
    const data = Option.getOrElse(input.data, () => ".jobwire")
    return {
      _tag: "Directory",
      data,
      synchronous: Option.getOrElse(input.synchronous, () => "full" as const)
    } satisfies Place
  }
  return {
    _tag: "Postgres",
    database: database.value,
    migrate: input.migrate,
    hotConnections: Option.getOrUndefined(input.hotConnections),
    calmConnections: Option.getOrUndefined(input.calmConnections)
  } satisfies Place
})

/** The place that is asked for: by at most one flag, else by `DATABASE_URL`, else the directory `.jobwire`. */
export const choosePlace = Effect.fn("choosePlace")(function* (input: PlaceInput) {
  const given = named(input)
  if (given.length > 1) return yield* usage(`give one of ${given.join(" and ")}, not both`)
  const place: Place = yield* placeOf(input)
  const stray = strayFlag(place, input)
  if (stray === undefined) return place
  const hint =
    stray === "synchronous"
      ? "it is about --data; for PostgreSQL, synchronous_commit is a setting of the role (docs/postgres.md)"
      : "it is about PostgreSQL: name the database by DATABASE_URL or --database-url"
  return yield* usage(`--${stray} does not go with jobs ${describePlace(place)}`, hint)
})
