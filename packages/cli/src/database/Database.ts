/** Which PostgreSQL database: `--database-url` or `DATABASE_URL`, and `--schema`. No text made here holds a password. */
import type { JobStoreError } from "@jobwire/protocol"
import type { PostgresJobStore } from "@jobwire/server/postgres"
import { Config, Effect, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import * as ExitCode from "../ExitCode.ts"
import { CommandFailure } from "../output/Failure.ts"

/** A database that the command line or the environment names. */
export interface Database {
  readonly url: Redacted.Redacted
  /** Which of them. */
  readonly from: "--database-url" | "DATABASE_URL"
  /** The driver's own unless given. */
  readonly schema: string | undefined
}

/** What a URL looks like, as help and errors say it. */
export const urlForm = "postgres://USER:PASSWORD@HOST:PORT/DATABASE"

/** The flags of every command that works on a database. */
export const databaseFlags = {
  databaseUrl: Flag.Redacted("database-url").pipe(
    Flag.withMetavar("url"),
    Flag.withDescription(
      `The PostgreSQL database: ${urlForm}; better in DATABASE_URL, where a list of processes does not show it`
    ),
    Flag.optional
  ),
  schema: Flag.String("schema").pipe(
    Flag.withMetavar("name"),
    Flag.withDescription("The schema in that database that is Jobwire's own (jobwire unless given)"),
    Flag.optional
  )
}

interface Input {
  readonly databaseUrl: Option.Option<Redacted.Redacted>
  readonly schema: Option.Option<string>
}

const fromEnvironment = Config.option(Config.Redacted("DATABASE_URL")).pipe(
  Effect.orDie,
  Effect.map(Option.filter((url) => Redacted.value(url).trim() !== ""))
)

// Characters of a password that should have been encoded end the host's part too early: what is left of it would then be printed
// as the address. So nothing that looks like it is accepted.
const isDatabaseUrl = (text: string): boolean => {
  const url = URL.parse(text)
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) return false
  return url.hash === "" && !`${url.pathname}${url.search}`.includes("@")
}

const checkUrl = (database: Database): Effect.Effect<Database, CommandFailure> =>
  isDatabaseUrl(Redacted.value(database.url))
    ? Effect.succeed(database)
    : Effect.fail(
        new CommandFailure({
          message: `${database.from} is no URL of a PostgreSQL database`,
          hint: `it looks like ${urlForm}; in its parts, / ? # @ % are written %2F %3F %23 %40 %25`,
          exitCode: ExitCode.usage
        })
      )

/** The database of the flag, or else of the environment; `None` when neither names one. */
export const findDatabase = Effect.fn("findDatabase")(function* (input: Input) {
  const schema = Option.getOrUndefined(input.schema)
  const flag = Option.map(input.databaseUrl, (url): Database => ({ url, from: "--database-url", schema }))
  const found = Option.isSome(flag)
    ? flag
    : Option.map(yield* fromEnvironment, (url): Database => ({ url, from: "DATABASE_URL", schema }))
  return Option.isSome(found) ? Option.some(yield* checkUrl(found.value)) : Option.none<Database>()
})

/** Where the database is, without the credentials: `127.0.0.1:5432/jobs`. */
export const addressOf = ({ url }: Database): string => {
  const { host, pathname, searchParams } = new URL(Redacted.value(url))
  const server = searchParams.get("host") ?? (host === "" ? "localhost" : host)
  return `${server}/${searchParams.get("dbname") ?? pathname.slice(1)}`
}

/** A fault of the driver as the command tells it: with the database it is about. */
export const databaseFailure = (database: Database, error: JobStoreError): CommandFailure =>
  new CommandFailure({
    message: error.message,
    hint: `the database is ${addressOf(database)}, given by ${database.from}`,
    exitCode: error.isRetryable ? ExitCode.unreachable : ExitCode.failed
  })

/** PostgreSQL's driver, loaded when it is needed: the other commands start sooner without. */
export const driver: Effect.Effect<typeof PostgresJobStore> = Effect.map(
  Effect.promise(() => import("@jobwire/server/postgres")),
  ({ PostgresJobStore }) => PostgresJobStore
)
