/** The published entry. */
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { path, run, serve, timeout } from "./support/processes.ts"

const bin = fileURLToPath(new URL("../bin/jobwire.js", import.meta.url))

const runAs = (version: string | undefined, ...args: ReadonlyArray<string>) => {
  const preload = path("version.cjs")
  const pretend = `Object.defineProperty(process.versions, "node", { value: "${version}" })`
  writeFileSync(preload, version === undefined ? "" : pretend)
  return spawnSync(process.execPath, ["--require", preload, bin, ...args], { encoding: "utf8" })
}

describe("bin/jobwire.js", { timeout }, () => {
  it("runs here without a build", () => {
    const { status, stderr, stdout } = runAs(undefined, "--version")
    expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: "", stdout: "0.1.0\n" })
  })

  it.each(["22.18.0", "20.19.1", "18.0.0"])("says what is needed when Node is %s", (version) => {
    const { status, stderr, stdout } = runAs(version, "--version")
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" })
    expect(stderr).toContain(`Node ${version} is too old: 22.19 or newer is needed`)
    expect(stderr).toContain("https://nodejs.org")
  })

  it("is written in the syntax of old versions", () => {
    const textOrComment = /"[^"\n]*"|\/\*[^]*?\*\/|\/\/.*/g
    const code = readFileSync(bin, "utf8").replaceAll(textOrComment, "")
    expect(code).toContain("process.exit(1)")
    expect(code).not.toMatch(/\b(const|let|class|async|await)\b|=>|`|\?\.|\?\?|\.\.\./)
  })
})

describe("output into a pipe", { timeout }, () => {
  it("is whole, however much it is", async () => {
    const { env } = await serve()
    const payload = "x".repeat(900_000)
    await run(["enqueue", "big", "--id", "big", "--file", "-"], env, JSON.stringify(payload))
    const { code, stdout } = await run(["jobs", "show", "big-1", "--json"], env)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ job: { id: "big-1", payload } })
  })
})
