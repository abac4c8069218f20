/** `jobwire` as processes of its own, run from the sources. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll } from "vitest"

const bin = fileURLToPath(new URL("../../src/bin.ts", import.meta.url))

/** Starting a process takes seconds on a machine that is busy with other tests. */
export const timeout = 120_000

const folder = mkdtempSync(join(tmpdir(), "jobwire-cli-"))
const running = new Set<ChildProcess>()

afterAll(() => {
  for (const child of running) child.kill("SIGKILL")
  rmSync(folder, { recursive: true, force: true })
})

/** A path in a folder that goes away with the test file. */
export const path = (...parts: ReadonlyArray<string>): string => join(folder, ...parts)

/** How a process ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

/** A process that runs. */
export interface Running {
  readonly pid: number
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves with the first line of stdout or stderr, from the start, that matches. */
  readonly line: (pattern: RegExp) => Promise<string>
}

const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(JOBWIRE_|DATABASE_URL$)/.test(name)))

const watchLines = (child: ChildProcess) => {
  const lines: Array<string> = []
  const waiting = new Set<(line: string) => void>()
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line)
      for (const wait of waiting) wait(line)
    })
  }
  return (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const wait = (line: string) => {
        if (!pattern.test(line)) return
        waiting.delete(wait)
        resolve(line)
      }
      waiting.add(wait)
      for (const line of lines) wait(line)
      child.once("close", () => reject(new Error(`it ended without a line like ${pattern}:\n${lines.join("\n")}`)))
    })
}

/** Starts `jobwire` with these arguments, and these variables on top of a clean environment. */
export const start = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}, input?: string): Running => {
  const child = spawn(process.execPath, ["--conditions=jobwire:source", bin, ...args], {
    cwd: folder,
    env: { ...cleanEnvironment(), NODE_COMPILE_CACHE: join(tmpdir(), "jobwire-cli-cache"), ...env }
  })
  running.add(child)
  let stdout = ""
  let stderr = ""
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  child.stdin.on("error", () => {})
  child.stdin.end(input)
  const ended = new Promise<Ended>((resolve) => {
    child.once("close", (code, signal) => {
      running.delete(child)
      resolve({ code, signal, stdout, stderr })
    })
  })
  if (child.pid === undefined) throw new Error("the process did not start")
  return { pid: child.pid, child, ended, line: watchLines(child) }
}

/** Runs `jobwire` to its end. */
export const run = (args: ReadonlyArray<string>, env?: NodeJS.ProcessEnv, input?: string): Promise<Ended> =>
  start(args, env, input).ended

/** A server on a free port. */
export interface Server extends Running {
  readonly url: string
  /** The variables that lead a command to it. */
  readonly env: { readonly JOBWIRE_URL: string }
}

/** Starts a server, and waits until it is ready. */
export const serve = async (args: ReadonlyArray<string> = ["--memory"], env?: NodeJS.ProcessEnv): Promise<Server> => {
  const server = start(["serve", "--port", "0", ...args], env)
  const url = await server.line(/^http:/)
  return { ...server, url, env: { JOBWIRE_URL: url } }
}

/** Whether a process is there. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
