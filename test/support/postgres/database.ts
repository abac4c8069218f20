/** Makes or drops the database of a test run: `database.ts create|drop <url of the server> <name>`. Prints nothing. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { PostgresJobStore } from "@jobwire/server/postgres"
import { Effect, Redacted } from "effect"

const [, , action, server = "", name = ""] = process.argv

const execute = (statement: string) =>
  Effect.scoped(
    Effect.flatMap(PgConnection.make({ url: Redacted.make(server) }), (connection) => connection.query(statement))
  )

const create = Effect.suspend(() => {
  const url = new URL(server)
  url.pathname = `/${name}`
  return Effect.andThen(execute(`create database ${name}`), PostgresJobStore.migrate({ url: Redacted.make(url.href) }))
})

await (action === "create"
  ? Effect.runPromise(create)
  : Effect.runPromise(execute(`drop database ${name} with (force)`)))
