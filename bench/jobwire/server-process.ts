/** A `jobwire serve` in a process of its own, for measuring through the network. */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { untilStopped } from "../services/atExit.ts"

const cli = fileURLToPath(new URL("../../packages/cli/src/bin.ts", import.meta.url))

/**
 * Where the server under measurement keeps its jobs. `sqlite` and PostgreSQL are durable: every commit is synced to the disk
 * before it is acknowledged.
 */
export type Driver = "memory" | "sqlite" | { readonly databaseUrl: string }

/** A running server. */
export interface ServerProcess {
  readonly url: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

const program = (...args: ReadonlyArray<string>): ReadonlyArray<string> => ["--conditions=jobwire:source", cli, ...args]

/** The arguments and the environment of the command for a driver. */
const commandFor = async (driver: Driver, folder: string) => {
  const env = { ...process.env }
  delete env["DATABASE_URL"]
  if (driver === "memory") return { args: ["--memory"], env }
  if (driver === "sqlite") return { args: ["--data", folder], env }
  env["DATABASE_URL"] = driver.databaseUrl
  await promisify(execFile)(process.execPath, program("migrate"), { env })
  return { args: [], env }
}

/** Starts a server on a free port and waits until it is ready. */
export const startServer = async (driver: Driver): Promise<ServerProcess> => {
  const folder = mkdtempSync(join(tmpdir(), "jobwire-bench-"))
  const { args, env } = await commandFor(driver, folder)
  const child = spawn(process.execPath, program("serve", "--port", "0", ...args), {
    env,
    stdio: ["ignore", "pipe", "pipe"]
  })
  const exit = once(child, "exit")
  let log = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-4000)
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const url = line.match(/http:\/\/\S+/)?.[0]
    if (url === undefined || child.pid === undefined) continue
    const stop = untilStopped(async () => {
      child.kill("SIGTERM")
      await exit
      rmSync(folder, { recursive: true, force: true })
    })
    return { url, pid: child.pid, stop }
  }
  throw new Error(`the server ended before it was ready:\n${log}`)
}
