/** A server program of somebody else, started for the bench and ended by it. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { freePort } from "../../test/support/postgres/Cluster.ts"
import { untilStopped } from "./atExit.ts"

/** A running service. */
export interface Service {
  /** Where clients find it; what it looks like is the service's own affair. */
  readonly url: string
  /** Program and version, for the results. */
  readonly version: string
  readonly stop: () => Promise<void>
}

/** The program of that name on the PATH or where Debian keeps servers; none when it is not installed. */
export const findProgram = (name: string): string | undefined => {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/usr/sbin", "/usr/local/bin"]
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port })
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
  })

/** Starts a program with a temporary folder and a free port, and waits until it takes connections. */
export const startDaemon = async (
  program: string,
  args: (folder: string, port: number) => ReadonlyArray<string>
): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> => {
  const folder = mkdtempSync(join(tmpdir(), "jobwire-bench-"))
  const port = await freePort()
  // A group of its own: Ctrl-C reaches the bench, which stops it in good order.
  const child = spawn(program, args(folder, port), {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    detached: true
  })
  const exit = once(child, "exit")
  const stop = untilStopped(async () => {
    child.kill("SIGTERM")
    await exit
    rmSync(folder, { recursive: true, force: true })
  })
  const deadline = performance.now() + 10_000
  while (!(await listens(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await stop()
      throw new Error(`${program} did not start to listen`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { port, stop }
}
