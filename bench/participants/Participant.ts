/** The bench's side of a process that takes part in a measurement. */
import { type ChildProcess, fork } from "node:child_process"
import { EventEmitter, once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Commands, Report, Request } from "./Messages.ts"

const program = fileURLToPath(new URL("./program.ts", import.meta.url))

// How long a command may take beyond the time it was given.
const graceSeconds = 30

/** What a worker reports while it works. */
interface Reports {
  finished: [count: number, atMs: number]
  woken: [latencyMs: number]
}

/** A process under the bench's command. */
export class Participant {
  readonly reports = new EventEmitter<Reports>()
  readonly #child: ChildProcess
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #next = 0

  constructor() {
    // What the contenders log is not of the bench, their errors are.
    this.#child = fork(program, {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      execArgv: ["--conditions=jobwire:source", "--disable-warning=ExperimentalWarning"]
    })
    this.#child.on("message", (report: Report) => this.#receive(report))
    this.#child.on("exit", (code, signal) => {
      this.#failAll(new Error(`a process of the bench ended early, with ${signal ?? `code ${code}`}`))
    })
  }

  /** Asks it to do something; fails when it takes far longer than `seconds`. */
  async call<Name extends keyof Commands>(
    command: Name,
    args: Commands[Name]["args"],
    seconds = 0
  ): Promise<Commands[Name]["answer"]> {
    const request: Request = { id: ++this.#next, command, args }
    const answer = Promise.withResolvers<unknown>()
    this.#pending.set(request.id, answer)
    const limit = seconds + graceSeconds
    const timer = setTimeout(() => answer.reject(new Error(`${command} did not end within ${limit} s`)), limit * 1000)
    try {
      this.#child.send(request)
      // Both sides are typed by the same table of commands.
      return (await answer.promise) as Commands[Name]["answer"]
    } finally {
      clearTimeout(timer)
      this.#pending.delete(request.id)
    }
  }

  /** Ends the process, in good order if it can. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, "exit")
    const patience = setTimeout(() => this.#child.kill("SIGKILL"), 3000)
    await this.call("close", null).catch(() => {})
    clearTimeout(patience)
    this.#child.kill("SIGKILL")
    await exit
  }

  #receive(report: Report): void {
    switch (report._tag) {
      case "Answer":
        return this.#pending.get(report.id)?.resolve(report.answer)
      case "Failure":
        return this.#pending.get(report.id)?.reject(new Error(report.message))
      case "Finished":
        return void this.reports.emit("finished", report.count, report.atMs)
      case "Woken":
        return void this.reports.emit("woken", report.latencyMs)
    }
  }

  #failAll(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error)
  }
}
