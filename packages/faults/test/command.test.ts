/** `jobwire-faults` as a process of its own. */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "vitest"
import { send, textOf } from "./support/clients.ts"
import * as Servers from "./support/servers.ts"

// Starting a process takes seconds on a machine that is busy with other tests.
const timeout = 90_000

const bin = fileURLToPath(new URL("../bin/jobwire-faults.js", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "jobwire-faults-"))
const running = new Set<ChildProcess>()

afterAll(() => {
  for (const child of running) child.kill("SIGKILL")
  rmSync(folder, { recursive: true, force: true })
})

const start = (...args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, [bin, ...args])
  running.add(child)
  let stdout = ""
  let stderr = ""
  const waiting = new Set<() => void>()
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()))
  const url = new Promise<string>((resolve) => createInterface({ input: child.stdout }).once("line", resolve))
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString()
    for (const look of waiting) look()
  })
  const ended = new Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>(
    (resolve) => {
      child.once("close", (code) => {
        running.delete(child)
        resolve({ code, stdout, stderr })
      })
    }
  )
  /** Resolves when stderr has this. */
  const says = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (pattern.test(stderr)) resolve()
      }
      waiting.add(look)
      look()
    })
  return { child, url, ended, says, tell: (line: string) => child.stdin.write(`${line}\n`) }
}

describe("jobwire-faults", { timeout }, () => {
  it("stands before a server, does what it is told, and ends by a signal", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const server = yield* Servers.http()
        const log = join(folder, "faults.jsonl")
        const args = ["--upstream", server.url, "--seed", "42", "--rate", "1", "--kinds", "balancer=2", "--log", log]
        const proxy = start(...args)
        const url = yield* Effect.promise(() => proxy.url)
        expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
        expect(textOf(yield* send(url, { body: "x" }))).toMatch(/^<html>/)
        proxy.tell("nonsense")
        yield* Effect.promise(() => proxy.says(/not changed: a change is a line of JSON such as \{"rate": 0\}/))
        proxy.tell('{"rate": 5}')
        yield* Effect.promise(() => proxy.says(/not changed: rate must be a number from 0 to 1, and is 5/))
        proxy.tell('{"rate": 0}')
        yield* Effect.promise(() => proxy.says(/^changed: \{"rate": 0\}/m))
        expect(textOf(yield* send(url, { body: "y" }))).toMatch(/POST \/ y$/)
        proxy.child.kill("SIGTERM")
        const { code, stderr, stdout } = yield* Effect.promise(() => proxy.ended)
        expect({ code, stdout }).toEqual({ code: 0, stdout: `${url}\n` })
        expect(stderr).toMatch(/^seed 42; what comes goes to http:/)
        expect(stderr).toContain("seen: connection 2, request 2\nhit: balancer 1\n")
        const [first, hit] = readFileSync(log, "utf8").split("\n")
        expect(JSON.parse(first ?? "")).toMatchObject({ seed: 42, settings: { rate: 1, kinds: { balancer: 2 } } })
        expect(JSON.parse(hit ?? "")).toMatchObject({ n: 2, kind: "balancer", what: "POST /" })
      }).pipe(Effect.scoped)
    ))

  it.each([
    { args: [], code: 2, says: /Missing required flag: --upstream/ },
    { args: ["--upstream", "http://h:1", "--rate", "often"], code: 2, says: /rate/ },
    { args: ["--upstream", "http://h:1", "--rate", "3"], code: 1, says: /rate must be a number from 0 to 1, and is 3/ },
    { args: ["--upstream", "http://h:1", "--kinds", "explode"], code: 1, says: /kinds has "explode", which is none/ },
    { args: ["--upstream", "http://u:hush@h:1"], code: 1, says: /upstreams must be http:\/\/host:port of a server/ },
    { args: ["--help"], code: 0, says: /^$/ }
  ])("$args: says what is wrong, and ends with $code", async ({ args, code, says }) => {
    const ended = await start(...args).ended
    expect(ended.code).toBe(code)
    expect(ended.stderr).toMatch(says)
    expect(ended.stderr).not.toContain("hush")
    if (code === 0) expect(ended.stdout).toContain("jobwire-faults --upstream http://127.0.0.1:7077 --seed 42")
  })
})
