/** A PostgreSQL of our own: a cluster in a temporary folder, on a free port of 127.0.0.1, that tests may stop and kill. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chownSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Binaries, find } from "./Binaries.ts"

/** A running cluster. */
export interface Cluster {
  /** `postgres://…/postgres`, for a superuser. The same after a restart. */
  readonly url: string
  /** The process id of the postmaster. */
  readonly pid: () => number
  /** Kills the postmaster; its backends notice and end too. Nothing is written out. */
  readonly kill: () => Promise<void>
  /** Starts it again after {@link kill}; resolves when it takes connections. */
  readonly start: () => Promise<void>
  /** Stops it and deletes its folder. */
  readonly dispose: () => Promise<void>
}

/** Settings beyond PostgreSQL's defaults, as for `postgres -c`. */
export type Settings = Readonly<Record<string, string | number>>

/** A port of 127.0.0.1 that nobody listens on. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (address === null || typeof address === "string") throw new Error("no port was given")
  return address.port
}

const initialize = ({ folder, runAs }: Binaries, data: string): void => {
  const { status, stderr } = spawnSync(
    join(folder, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
    { ...runAs, cwd: data, encoding: "utf8" }
  )
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`)
}

const launch = (binaries: Binaries, data: string, port: number, settings: Settings): Promise<ChildProcess> => {
  const all = { listen_addresses: "127.0.0.1", port, unix_socket_directories: "", max_connections: 300, ...settings }
  const child = spawn(
    join(binaries.folder, "postgres"),
    ["-D", data, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    // A group of its own, so that no Ctrl-C reaches it before the tests are done.
    { ...binaries.runAs, cwd: data, stdio: ["ignore", "ignore", "pipe"], detached: true }
  )
  return new Promise((resolve, reject) => {
    let log = ""
    child.stderr.setEncoding("utf8")
    child.stderr.on("data", (text: string) => {
      log = (log + text).slice(-8000)
      if (text.includes("ready to accept connections")) resolve(child)
    })
    child.once("error", reject)
    child.once("exit", (code) => reject(new Error(`postgres ended with code ${code}:\n${log}`)))
  })
}

// Backends outlive a killed postmaster by a moment, and it does not start beside them.
const relaunch = async (...args: Parameters<typeof launch>): Promise<ChildProcess> => {
  const until = Date.now() + 20_000
  while (true) {
    try {
      return await launch(...args)
    } catch (error) {
      if (Date.now() > until || !String(error).includes("in use")) throw error
    }
  }
}

const signal = async (child: ChildProcess, name: NodeJS.Signals): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill(name)
  await ended
}

/** Makes and starts a cluster, with npm's programs unless others are given. */
export const make = async (settings: Settings = {}, binaries: Binaries = find()): Promise<Cluster> => {
  const data = mkdtempSync(join(tmpdir(), "jobwire-postgres-"))
  const { gid, uid } = binaries.runAs
  if (uid !== undefined && gid !== undefined) chownSync(data, uid, gid)
  initialize(binaries, data)
  const port = await freePort()
  let child = await launch(binaries, data, port, settings)
  const pid = (): number => {
    if (child.pid === undefined) throw new Error("postgres was not started")
    return child.pid
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    pid,
    kill: () => signal(child, "SIGKILL"),
    start: async () => {
      child = await relaunch(binaries, data, port, settings)
    },
    dispose: async () => {
      // SIGINT is PostgreSQL's fast stop: it ends sessions and writes everything out.
      await signal(child, "SIGINT")
      rmSync(data, { recursive: true, force: true })
      binaries.dispose()
    }
  }
}
