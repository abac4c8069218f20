/**
 * The PostgreSQL of a test run: the one that DATABASE_URL names, or one of our own from npm's binaries. The run gets a database to
 * itself, with Jobwire's schema in it, which goes with the run.
 */
import { PostgresJobStore } from "@jobwire/server/postgres"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import type { TestProject } from "vitest/node"
import * as Cluster from "./Cluster.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** A database with Jobwire's schema; stores in it are told apart by their names. */
    readonly postgresUrl: string
  }
}

const execute = (url: string, statement: string): Promise<unknown> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(PgConnection.make({ url: Redacted.make(url) }), (connection) => connection.query(statement))
    )
  )

const inDatabase = (url: string, database: string): string => {
  const parsed = new URL(url)
  parsed.pathname = `/${database}`
  return parsed.href
}

export default async (project: TestProject): Promise<() => Promise<void>> => {
  const given = process.env["DATABASE_URL"]
  const cluster = given === undefined ? await Cluster.make() : undefined
  const server = cluster?.url ?? given ?? ""
  const database = `jobwire_test_${randomBytes(6).toString("hex")}`
  const url = inDatabase(server, database)
  await execute(server, `create database ${database}`)
  await Effect.runPromise(PostgresJobStore.migrate({ url: Redacted.make(url) }))
  project.provide("postgresUrl", url)
  return async () => {
    await execute(server, `drop database ${database} with (force)`)
    await cluster?.dispose()
  }
}
