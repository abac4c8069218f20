/** The processes of the demo: a server, and workers that can be killed. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const source = "--conditions=jobwire:source"
const cli = fileURLToPath(new URL("../../packages/cli/src/bin.ts", import.meta.url))
const worker = fileURLToPath(new URL("./worker.ts", import.meta.url))

/** A running process, the lines it prints, and its end. */
export interface Running {
  readonly child: ChildProcess
  readonly stop: (signal: NodeJS.Signals) => Promise<void>
}

const start = (file: string, args: ReadonlyArray<string>, onLine: (line: string) => void): Running => {
  const child = spawn(process.execPath, [source, file, ...args], { stdio: ["ignore", "pipe", "inherit"] })
  createInterface({ input: child.stdout }).on("line", onLine)
  const stop = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, "exit")
    child.kill(signal)
    await exit
  }
  return { child, stop }
}

/** Starts a durable server on a free port and gives its URL once it is ready. */
export const startServer = async (folder: string): Promise<Running & { readonly url: string }> => {
  const { promise, reject, resolve } = Promise.withResolvers<string>()
  const server = start(cli, ["serve", "--port", "0", "--data", folder], (line) => {
    const url = line.match(/http:\/\/\S+/)?.[0]
    if (url !== undefined) resolve(url)
  })
  server.child.once("exit", (code) => reject(new Error(`the server ended with ${code} before it was ready`)))
  return { ...server, url: await promise }
}

/** Starts a worker; `onTook` is called with the id of each job it takes. */
export const startWorker = (url: string, onTook: (id: string) => void): Running =>
  start(worker, [url], (line) => {
    const [event, id] = line.split(" ")
    if (event === "took" && id !== undefined) onTook(id)
  })
