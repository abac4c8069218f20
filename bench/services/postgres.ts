/**
 * A PostgreSQL of the bench's own: a fresh cluster in a temporary folder, with Debian's programs where they are installed (they bring
 * pgbench), else with those that npm brings for the tests.
 */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { type Binaries, find, whoRuns } from "../../test/support/postgres/Binaries.ts"
import { make } from "../../test/support/postgres/Cluster.ts"
import { untilStopped } from "./atExit.ts"
import type { Service } from "./daemon.ts"
import { connectSql } from "./Sql.ts"

/** The same for everybody who is measured on it. All else is PostgreSQL's default; that includes autovacuum. */
export const settings = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "512MB",
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
  max_connections: 200
}

const debian = "/usr/lib/postgresql"

/** The newest server that Debian installed: its clients alone bring such a folder too. */
const debianFolder = (): string | undefined => {
  if (!existsSync(debian)) return undefined
  const newest = readdirSync(debian).toSorted((a, b) => Number(b) - Number(a))
  return newest.map((version) => join(debian, version, "bin")).find((folder) => existsSync(join(folder, "initdb")))
}

const binaries = (): Binaries => {
  const folder = debianFolder()
  if (folder === undefined) return find()
  return { folder, runAs: whoRuns(), dispose: () => {} }
}

/** PostgreSQL as a service that gives every contender a database of its own. */
export interface Postgres extends Service {
  /** Makes an empty database, and gives its URL and how to drop it. */
  readonly fresh: () => Promise<{ readonly url: string; readonly drop: () => Promise<void> }>
}

/** Starts the cluster. */
export const startPostgres = async (): Promise<Postgres> => {
  const cluster = await make(settings, binaries())
  const admin = await connectSql(cluster.url)
  const stop = untilStopped(async () => {
    await admin.close()
    await cluster.dispose()
  })
  let count = 0
  return {
    url: cluster.url,
    version: `PostgreSQL ${await admin.text("show server_version")}`,
    fresh: async () => {
      const name = `bench_${++count}`
      await admin.run(`create database ${name}`)
      const url = new URL(cluster.url)
      url.pathname = `/${name}`
      return { url: url.href, drop: () => admin.run(`drop database ${name} with (force)`) }
    },
    stop
  }
}
