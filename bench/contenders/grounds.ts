/** Fresh ground for a measurement, by what the contender keeps its jobs in. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startServer } from "../jobwire/server-process.ts"
import { startBeanstalkd } from "../services/beanstalkd.ts"
import type { Service } from "../services/daemon.ts"
import { type Fsync, startRedis } from "../services/redis.ts"
import type { MakeGround } from "./Contender.ts"

const ofService = (service: Service | undefined) =>
  service === undefined ? undefined : { url: service.url, service: service.version, clear: service.stop }

/** The memory of the contender's own process. */
export const noGround: MakeGround = async () => ({ url: "", service: "", clear: async () => {} })

/** A folder for a file. */
export const folder: MakeGround = async () => {
  const url = mkdtempSync(join(tmpdir(), "jobwire-bench-"))
  return { url, service: "", clear: async () => rmSync(url, { recursive: true, force: true }) }
}

/** A database in the bench's cluster. */
export const database: MakeGround = async (postgres) => {
  const { fresh, version } = await postgres()
  const { drop, url } = await fresh()
  return { url, database: url, service: version, clear: drop }
}

/** A Redis. */
export const redis =
  (fsync: Fsync): MakeGround =>
  async () =>
    ofService(await startRedis(fsync))

/** A beanstalkd. */
export const beanstalkd: MakeGround = async () => ofService(await startBeanstalkd())

/** A Jobwire server on its own memory or file. */
export const server =
  (driver: "memory" | "sqlite"): MakeGround =>
  async () => {
    const { stop, url } = await startServer(driver)
    return { url, service: "", clear: stop }
  }

/** A Jobwire server on a database in the bench's cluster. */
export const serverOnPostgres: MakeGround = async (postgres) => {
  const { fresh, version } = await postgres()
  const { drop, url: databaseUrl } = await fresh()
  const { stop, url } = await startServer({ databaseUrl })
  const clear = async () => {
    await stop()
    await drop()
  }
  return { url, database: databaseUrl, service: version, clear }
}
