/** `jobwire enqueue` and `jobwire work` as processes. */
import { writeFileSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { jobwireAt, type Printed } from "./support/inProcess.ts"
import { isAlive, path, run, type Running, serve, type Server, start, timeout } from "./support/processes.ts"

let server: Server
let jobwire: (...args: ReadonlyArray<string>) => Promise<Printed>
beforeAll(async () => {
  server = await serve()
  jobwire = jobwireAt(server.url)
}, timeout)
afterAll(() => {
  server.child.kill("SIGTERM")
})

const begin = (...args: ReadonlyArray<string>): Running => start(args, server.env)

const show = async (id: string) => JSON.parse((await jobwire("jobs", "show", id, "--json")).stdout)

/** A shell script that says its process id before it does anything else. */
const script = (name: string, body: string): string => {
  const file = path(name)
  writeFileSync(file, `echo "pid $$" >&2\n${body}\n`, { mode: 0o755 })
  return file
}

const pidOf = async (worker: Running): Promise<number> => Number((await worker.line(/^pid \d+$/)).slice(4))

const untilGone = async (pid: number): Promise<void> => {
  const deadline = Date.now() + 20_000
  while (isAlive(pid)) {
    if (Date.now() > deadline) throw new Error(`process ${pid} is still there`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

describe("jobwire enqueue", { timeout }, () => {
  it("takes a file, names its bad lines, enqueues the rest, and may be repeated", async () => {
    writeFileSync(path("jobs.jsonl"), '{"n":1}\nnonsense\n\n{"n":4}\r\n"\\u0000"\n{"n":6}')
    const args = ["enqueue", "file", "--queue", "file", "--file", path("jobs.jsonl"), "--id", "load"]
    const first = await run(args, server.env)
    expect(first).toMatchObject({ code: 1, stdout: "3 jobs enqueued, 2 bad lines left out\n" })
    const [second, fifth] = first.stderr.trim().split("\n")
    expect(second).toMatch(/^jobwire: line 2 is not JSON: /)
    expect(fifth).toBe("jobwire: line 5 payload contains a NUL character (U+0000)")
    const again = await jobwire(...args, "--json")
    expect(JSON.parse(again.stdout)).toEqual({ enqueued: 0, duplicates: 3, bad: 2 })
    expect(await show("load-6")).toMatchObject({ job: { payload: { n: 6 } } })
  })

  it("takes complete requests from stdin", async () => {
    const lines = [
      { payload: 1, priority: 5, id: "request-1" },
      { payload: 2, atempts: 3 },
      { name: "other", delayMs: 60_000, id: "request-3" }
    ]
    const input = lines.map((line) => JSON.stringify(line)).join("\n")
    const args = ["enqueue", "requests", "-", "--lines", "request", "--queue", "requests", "--attempts", "2"]
    const { code, stderr } = await run(args, server.env, input)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^jobwire: line 2 is not a request: .*atempts/)
    expect(await show("request-1")).toMatchObject({ job: { name: "requests", priority: 5, attemptsMax: 2 } })
    expect(await show("request-3")).toMatchObject({ job: { name: "other", state: "delayed", attemptsMax: 2 } })
  })
})

describe("jobwire work", { timeout }, () => {
  it("runs a program for each job until none is left", async () => {
    const queue = ["--queue", "ends"]
    await jobwire("enqueue", "good", ...queue, "--id", "good", "--payload", '{"n": 1}')
    await jobwire("enqueue", "bad", ...queue, "--id", "bad", "--attempts", "2")
    await jobwire("enqueue", "bad", ...queue, "--id", "hopeless", "--attempts", "9", "--payload", "65")
    const program = script(
      "ends",
      'read payload; [ $JOBWIRE_NAME = good ] && echo "$payload" && exit; exit ${payload:-3}'
    )
    const worked = await run(
      ["work", "good", "bad", ...queue, "--until-empty", "--json", "--", "/bin/sh", program],
      server.env
    )
    expect(worked.code).toBe(0)
    const events = worked.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(events.at(-1)).toMatchObject({ event: "done", empty: true, completed: 1, retried: 1, failed: 2 })
    expect(await show("good")).toMatchObject({ job: { state: "completed", exit: { value: { n: 1 } } } })
    expect(await show("bad")).toMatchObject({
      job: { state: "failed", attemptsMade: 2 },
      runs: [{ outcome: "retried" }, { outcome: "failed" }]
    })
    expect(await show("hopeless")).toMatchObject({ job: { state: "failed", attemptsMade: 1 } })
    expect((await jobwire("jobs", "retry", "bad")).stdout).toBe("bad: waiting again")
    expect(await show("bad")).toMatchObject({ job: { state: "waiting", attemptsMade: 0 } })
  })

  it("on SIGTERM ends its program and gives the job back without spending an attempt", async () => {
    const queue = ["--queue", "stop"]
    await jobwire("enqueue", "slow", ...queue, "--id", "stopped")
    const worker = begin("work", "slow", ...queue, "--exec", script("slow", "exec sleep 300"))
    const pid = await pidOf(worker)
    worker.child.kill("SIGTERM")
    expect(await worker.ended).toMatchObject({ code: 0 })
    await untilGone(pid)
    expect(await show("stopped")).toMatchObject({ job: { state: "waiting", attemptsMade: 0 }, runs: [] })
  })

  it("on a second signal kills its program and ends at once", async () => {
    const queue = ["--queue", "twice"]
    await jobwire("enqueue", "deaf", ...queue)
    const program = script("deaf", "trap '' TERM; while :; do sleep 1; done")
    const worker = begin("work", "deaf", ...queue, "--lease", "10m", "--grace", "3m", "--exec", program)
    const pid = await pidOf(worker)
    worker.child.kill("SIGTERM")
    await worker.line(/^stopping: 1 program to end/)
    worker.child.kill("SIGTERM")
    expect(await worker.ended).toMatchObject({ code: 143 })
    await untilGone(pid)
  })

  it("stops the program of a job that is cancelled", async () => {
    const queue = ["--queue", "cancel"]
    await jobwire("enqueue", "slow", ...queue, "--id", "unwanted")
    const program = script("unwanted", "exec sleep 300")
    const worker = begin("work", "slow", ...queue, "--lease", "3s", "--until-empty", "--exec", program)
    const pid = await pidOf(worker)
    await jobwire("jobs", "cancel", "unwanted")
    expect(await worker.ended).toMatchObject({ code: 0 })
    await untilGone(pid)
    expect(await show("unwanted")).toMatchObject({ job: { state: "cancelled" } })
  })

  it("killed with -9, leaves no program behind, and another worker runs its job to the end", async () => {
    const queue = ["--queue", "kill"]
    await jobwire("enqueue", "slow", ...queue, "--id", "orphan", "--payload", "7")
    const killed = begin("work", "slow", ...queue, "--lease", "2s", "--exec", script("hangs", "exec sleep 300"))
    const pid = await pidOf(killed)
    killed.child.kill("SIGKILL")
    const args = ["work", "slow", ...queue, "--lease", "2s", "--until-empty", "--exec", "cat"]
    const other = await run(args, server.env)
    expect(other).toMatchObject({ code: 0 })
    expect(await show("orphan")).toMatchObject({
      job: { state: "completed", stalledCount: 1, exit: { value: 7 } },
      runs: [{ outcome: "stalled" }, { outcome: "completed" }]
    })
    await untilGone(pid)
  })

  it("whose server is gone stops its program before the lease ends, and finds the server again", async () => {
    const data = path("data")
    const first = await serve(["--data", data])
    const there = jobwireAt(first.url)
    await there("enqueue", "slow", "--id", "far")
    const port = new URL(first.url).port
    const program = script("far", `[ -f ${path("back")} ] && exit 0; exec sleep 300`)
    const worker = start(
      ["work", "slow", "--lease", "9s", "--grace", "3s", "--until-empty", "--exec", program],
      first.env
    )
    const pid = await pidOf(worker)
    const reached = Date.now()
    first.child.kill("SIGKILL")
    await untilGone(pid)
    expect(Date.now() - reached).toBeLessThan(9000)
    writeFileSync(path("back"), "")
    const second = start(["serve", "--port", port, "--data", data])
    await second.line(/^http:/)
    expect(await worker.ended).toMatchObject({ code: 0 })
    const shown = await there("jobs", "show", "far", "--json")
    expect(JSON.parse(shown.stdout)).toMatchObject({ job: { state: "completed" } })
    second.child.kill("SIGTERM")
    await second.ended
  })
})
