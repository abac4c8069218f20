/** `jobwire migrate`: brings the schema of a database to the layout that this version works with. */
import type { PostgresJobStore } from "@jobwire/server/postgres"
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { type Database, databaseFailure, databaseFlags, driver, findDatabase } from "../database/Database.ts"
import * as ExitCode from "../ExitCode.ts"
import { jsonFlag, switchFlag } from "../flags/Switch.ts"
import { CommandFailure } from "../output/Failure.ts"

const config = {
  check: switchFlag("check", "Change nothing; end with 1 when the schema is not what this version needs"),
  grant: Flag.String("grant").pipe(
    Flag.withMetavar("role"),
    Flag.withDescription("Then allow this role to serve: to read and write jobs, and nothing of the layout"),
    Flag.optional
  ),
  metadataIndex: switchFlag(
    "metadata-index",
    "Then make the index for lists by metadata, which costs every enqueue with metadata (docs/postgres.md)"
  ),
  json: jsonFlag,
  ...databaseFlags
}

type Input = Command.Command.Config.Infer<typeof config>

const usage = (message: string, hint?: string) => new CommandFailure({ message, hint, exitCode: ExitCode.usage })

const requireDatabase = Effect.fnUntraced(function* (input: Input) {
  const found = yield* findDatabase(input)
  if (Option.isSome(found)) return found.value
  return yield* usage("no database is given", "name it by DATABASE_URL or --database-url")
})

const say = (json: boolean, result: unknown, lines: ReadonlyArray<string>): Effect.Effect<void> =>
  Console.log(json ? JSON.stringify(result) : lines.join("\n"))

const has = ({ current, schema }: PostgresJobStore.SchemaVersion): string =>
  `the schema ${JSON.stringify(schema)} has version ${current}`

const look = Effect.fnUntraced(function* (database: Database, json: boolean) {
  const { check, refuse } = yield* driver
  const version = yield* check(database)
  if (version.current === version.needed || json) {
    yield* say(json, version, [`${has(version)}, as this version of Jobwire needs it`])
  }
  yield* refuse(version)
})

const apply = Effect.fnUntraced(function* (database: Database, { grant: role, json, metadataIndex }: Input) {
  const { addMetadataIndex, check, grant, migrate } = yield* driver
  const applied = (yield* migrate(database)).map(({ name, version }) => ({ version, name }))
  const granted = Option.getOrUndefined(role)
  if (granted !== undefined) yield* grant(database, granted)
  if (metadataIndex) yield* addMetadataIndex(database)
  const version = yield* check(database)
  yield* say(json, { ...version, applied, granted, metadataIndex: metadataIndex ? true : undefined }, [
    ...applied.map(({ name, version }) => `applied step ${version}: ${name}`),
    `${has(version)}${applied.length === 0 ? "; there was nothing to apply" : ""}`,
    ...(granted === undefined ? [] : [`the role ${JSON.stringify(granted)} may serve on it`]),
    ...(metadataIndex ? ["the index for metadata is there; servers use it from their next start on"] : [])
  ])
})

/** The command. */
export const migrate = Command.make(
  "migrate",
  config,
  Effect.fn("migrate")(function* (input) {
    if (input.check && (Option.isSome(input.grant) || input.metadataIndex)) {
      yield* usage("--check changes nothing: leave out --grant and --metadata-index")
    }
    const database = yield* requireDatabase(input)
    const work = input.check ? look(database, input.json) : apply(database, input)
    yield* Effect.mapError(work, (error) => databaseFailure(database, error))
  })
).pipe(
  Command.withDescription(
    "Applies to a PostgreSQL database what its schema lacks for this version of Jobwire, step by step, and says which steps.\n  " +
      "Several at once do no harm, and again changes nothing. It wants a role that may create and change the schema;\n  " +
      "`jobwire serve` does not. docs/postgres.md has the rest."
  ),
  Command.withShortDescription("Make or update the schema in a PostgreSQL database"),
  Command.withExamples([
    { command: "jobwire migrate", description: "The database of DATABASE_URL" },
    { command: "jobwire migrate --check", description: "Only look, as before a server is started" },
    { command: "jobwire migrate --grant jobwire_serve", description: "And let this role serve" }
  ])
)
