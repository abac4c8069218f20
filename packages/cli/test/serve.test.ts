/** `jobwire serve` as a process. */
import { createServer } from "node:net"
import { writeFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { jobwireAt } from "./support/inProcess.ts"
import { path, run, serve, start, timeout } from "./support/processes.ts"

describe("jobwire serve", { timeout }, () => {
  it("prints its URL and nothing else on stdout, keeps its jobs, and stops in good order", async () => {
    const data = path("new", "data")
    const first = await serve(["--data", data])
    const enqueued = await run(["enqueue", "mail", "--id", "kept", "--payload", "[1]"], first.env)
    expect(enqueued).toMatchObject({ code: 0, stdout: "kept\n", stderr: "" })
    first.child.kill("SIGTERM")
    expect(await first.ended).toMatchObject({ code: 0, stdout: `${first.url}\n` })
    expect((await first.ended).stderr).not.toContain("Warning")

    const second = await serve(["--data", data])
    const shown = await jobwireAt(second.url)("jobs", "show", "kept", "--json")
    expect(JSON.parse(shown.stdout)).toMatchObject({ job: { id: "kept", payload: [1], state: "waiting" } })

    const third = await run(["serve", "--port", "0", "--data", data])
    expect(third).toMatchObject({ code: 1, stdout: "" })
    expect(third.stderr).toMatch(/^jobwire: the database .*jobwire\.sqlite is in use by another process/)
    second.child.kill("SIGINT")
    expect(await second.ended).toMatchObject({ code: 0 })
  })

  it("lets in who has a token, by what it allows, and shows no token", async () => {
    writeFileSync(path("tokens"), "# who may come in\nname=reader;scopes=read;token=r3ad\n")
    const server = await serve(["--memory", "--token", "0pen", "--token-file", path("tokens")], {
      JOBWIRE_TOKENS: "name=app;scopes=produce;token=pr0duce"
    })
    const jobwire = jobwireAt(server.url)
    const nobody = await jobwire("counts")
    expect(nobody).toMatchObject({ code: 4, stdout: "" })
    const wrong = await jobwire("counts", "--json", "--token", "guess")
    expect(wrong.code).toBe(4)
    expect(JSON.parse(wrong.stderr)).toMatchObject({ error: { kind: "Unauthorized" } })
    expect(await jobwire("counts", "--token", "r3ad")).toMatchObject({ code: 0 })
    expect(await jobwire("counts", "--token", "pr0duce")).toMatchObject({ code: 4 })
    expect(await run(["enqueue", "mail"], { ...server.env, JOBWIRE_TOKEN: "pr0duce" })).toMatchObject({ code: 0 })
    expect(await jobwire("counts", "--token", "0pen")).toMatchObject({ code: 0 })
    server.child.kill("SIGTERM")
    const { stderr, stdout } = await server.ended
    expect(stderr).toContain("3 tokens")
    for (const text of [stdout, stderr, nobody.stderr, wrong.stderr])
      expect(text).not.toMatch(/0pen|r3ad|pr0duce|guess/)
  })

  it("says what keeps it from starting", async () => {
    const taken = createServer().listen(0, "127.0.0.1")
    await new Promise((resolve) => taken.once("listening", resolve))
    const address = taken.address()
    const port = typeof address === "object" && address !== null ? String(address.port) : ""
    const inUse = await run(["serve", "--memory", "--port", port])
    taken.close()
    expect(inUse).toMatchObject({ code: 1, stdout: "" })
    expect(inUse.stderr).toContain(`port ${port} is in use`)

    const open = await run(["serve", "--memory", "--port", "0", "--host", "0.0.0.0"])
    expect(open.code).toBe(1)
    expect(open.stderr).toContain("without a token")

    writeFileSync(path("file"), "")
    const noDirectory = await run(["serve", "--port", "0", "--data", path("file")])
    expect(noDirectory.code).toBe(1)
    expect(noDirectory.stderr).toMatch(/^jobwire: cannot use the data directory .*: there is a file of that name/)
    expect(inUse.stderr + open.stderr + noDirectory.stderr).not.toContain("    at ")
  })

  it("holds so many waits as a flag or the environment says", async () => {
    const wait = { _tag: "Request", id: 1, tag: "awaitWake", payload: { queues: ["q"], wakeToken: "w" }, headers: [] }
    const refusal = async (url: string) => {
      const headers = { "content-type": "application/json" }
      const answer = await fetch(`${url}/v1/rpc`, { method: "POST", headers, body: JSON.stringify(wait) })
      return answer.text()
    }
    const byFlag = await serve(["--memory", "--max-tenant-waits", "0", "--grace", "1s"])
    expect(await refusal(byFlag.url)).toContain("reached its limit of 0 parked waits")
    const byVariable = await serve(["--memory"], { JOBWIRE_MAX_SERVER_WAITS: "0" })
    expect(await refusal(byVariable.url)).toContain("the server has reached its limit of 0 parked waits")
    const wrong = await run(["serve", "--memory", "--port", "0"], { JOBWIRE_MAX_SERVER_WAITS: "-1" })
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toContain("JOBWIRE_MAX_SERVER_WAITS must be a whole number from 0")
  })

  it("ends at once on a second signal", async () => {
    const server = await serve()
    const worker = start(["work", "mail", "--exec", "true"], server.env)
    await worker.line(/^taking mail/)
    worker.child.kill("SIGTERM")
    await worker.ended
    server.child.kill("SIGTERM")
    server.child.kill("SIGTERM")
    const { code } = await server.ended
    expect([0, 143]).toContain(code)
  })
})
