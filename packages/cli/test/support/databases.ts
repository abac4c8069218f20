/** Databases for tests of the command: empty ones beside that of the test run, which go with the test file. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { afterAll, inject } from "vitest"

const made = new Set<string>()

afterAll(async () => {
  for (const name of made) await sql(inject("postgresUrl"), `drop database if exists ${name} with (force)`)
})

/** Runs a statement on a connection of its own and gives its rows. Fails with the text of the database. */
export const sql = (url: string, statement: string): Promise<ReadonlyArray<Record<string, unknown>>> =>
  PgConnection.make({ url: Redacted.make(url) }).pipe(
    Effect.flatMap((connection) => connection.query(statement)),
    Effect.map(({ rows }) => rows),
    Effect.mapError((error) => (error.reason.cause instanceof Error ? error.reason.cause : error)),
    Effect.scoped,
    Effect.runPromise
  )

/** The URL with other parts. */
export const withParts = (
  url: string,
  parts: Partial<Record<"hostname" | "port" | "username" | "password" | "pathname", string>>
): string => Object.assign(new URL(url), parts).href

/** A new database without a schema of Jobwire, in the server of the test run or in another one. */
export const emptyDatabase = async (server = inject("postgresUrl")): Promise<string> => {
  const name = `jobwire_cli_${randomBytes(6).toString("hex")}`
  await sql(server, `create database ${name}`)
  if (server === inject("postgresUrl")) made.add(name)
  return withParts(server, { pathname: `/${name}` })
}
