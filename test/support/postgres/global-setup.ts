/**
 * The PostgreSQL of a test run: the one that DATABASE_URL names, or one of our own from npm's binaries. The run gets a database to
 * itself, with Jobwire's schema in it, which goes with the run.
 */
import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"
import * as Cluster from "./Cluster.ts"

declare module "vitest" {
  export interface ProvidedContext {
    /** A database with Jobwire's schema; stores in it are told apart by their names. */
    readonly postgresUrl: string
  }
}

// In a process of its own: what vitest loads for a setup knows nothing of the condition that leads to sources.
const run = (...parameters: ReadonlyArray<string>): void => {
  const script = fileURLToPath(new URL("./database.ts", import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, ["--conditions=jobwire:source", script, ...parameters], {
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`the database of the tests could not be made or dropped:\n${stderr}`)
}

// Nothing here ends the machine, and what a killed process had written is with the system.
const settings = { fsync: "off" }

export default async (project: TestProject): Promise<() => Promise<void>> => {
  const given = process.env["DATABASE_URL"]
  const cluster = given === undefined ? await Cluster.make(settings) : undefined
  const server = cluster?.url ?? given ?? ""
  const name = `jobwire_test_${randomBytes(6).toString("hex")}`
  run("create", server, name)
  const url = new URL(server)
  url.pathname = `/${name}`
  project.provide("postgresUrl", url.href)
  return async () => {
    run("drop", server, name)
    await cluster?.dispose()
  }
}
