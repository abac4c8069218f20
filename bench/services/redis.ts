/** A Redis that writes every command to its append-only file. */
import { execFileSync } from "node:child_process"
import { findProgram, type Service, startDaemon } from "./daemon.ts"

/** When the file is synced: once a second (up to a second of acknowledged jobs is lost with the power), or before each answer. */
export type Fsync = "everysec" | "always"

/** Starts one; none when Redis is not installed. */
export const startRedis = async (fsync: Fsync): Promise<Service | undefined> => {
  const program = findProgram("redis-server")
  if (program === undefined) return undefined
  const { port, stop } = await startDaemon(program, (folder, port) =>
    [
      ["--bind", "127.0.0.1", "--port", `${port}`, "--dir", folder],
      ["--appendonly", "yes", "--appendfsync", fsync, "--save", "", "--loglevel", "warning"]
    ].flat()
  )
  const [, version] = /v=(\S+)/.exec(execFileSync(program, ["--version"], { encoding: "utf8" })) ?? []
  return { url: `redis://127.0.0.1:${port}`, version: `Redis ${version}, appendfsync ${fsync}`, stop }
}
