/** A `jobwire serve` in a process of its own, for measuring through the network. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const cli = fileURLToPath(new URL("../packages/cli/src/bin.ts", import.meta.url))

/** Where the server under measurement keeps its jobs. `sqlite` is durable: every commit is synced to the disk. */
export type Driver = "memory" | "sqlite"

/** A running server. */
export interface ServerProcess {
  readonly url: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

/** Starts a server on a free port and waits until it is ready. */
export const startServer = async (driver: Driver): Promise<ServerProcess> => {
  const folder = mkdtempSync(join(tmpdir(), "jobwire-bench-"))
  const store = driver === "memory" ? ["--memory"] : ["--data", folder]
  const args = ["--conditions=jobwire:source", cli, "serve", "--port", "0", ...store]
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  const exit = once(child, "exit")
  for await (const line of createInterface({ input: child.stdout })) {
    const url = line.match(/http:\/\/\S+/)?.[0]
    if (url === undefined || child.pid === undefined) continue
    const stop = async () => {
      child.kill("SIGTERM")
      await exit
      rmSync(folder, { recursive: true, force: true })
    }
    return { url, pid: child.pid, stop }
  }
  throw new Error("the server ended before it was ready")
}

/** The resident memory of a process in bytes, as Linux tells it. */
export const residentBytes = (pid: number): number => {
  const [, kibibytes = "0"] = readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmRSS:\s+(\d+) kB/m) ?? []
  return Number(kibibytes) * 1024
}

/** How many sockets a process holds open, as Linux tells it. */
export const openSockets = (pid: number): number => {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).filter((fd) => {
    try {
      return readlinkSync(join(folder, fd)).startsWith("socket:")
    } catch {
      // The descriptor was closed between the two calls.
      return false
    }
  }).length
}
