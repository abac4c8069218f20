/** The container files, which are not run here: what of them can be checked without running them. */
import { describe, expect, it } from "vitest"
import { compileFunction } from "node:vm"
import { read, trackedFiles } from "./sources.ts"

const dockerfile = read("Dockerfile")
const compose = read("docker-compose.yml")

const variables = (text: string): ReadonlyArray<string> => text.match(/\bJOBWIRE_[A-Z_]+\b/g) ?? []

/** The words of a command that stands as a JSON list behind this key. */
const wordsOf = (text: string, key: string): ReadonlyArray<string> => {
  const [, list = "[]"] = new RegExp(`^ *${key} (\\[.*\\])$`, "m").exec(text) ?? []
  return JSON.parse(list)
}

describe("the container files", () => {
  it("name no variable that the command does not read", () => {
    const sources = trackedFiles().filter((path) => path.startsWith("packages/cli/src/"))
    const known = new Set(sources.flatMap((path) => variables(read(path))))
    const named = variables(`${dockerfile}\n${compose}`)
    expect(named).not.toEqual([])
    expect(named.filter((name) => !known.has(name))).toEqual([])
  })

  it("start a source that is there, with the condition that leads to the others", () => {
    const [program, condition, entry] = wordsOf(dockerfile, "CMD")
    expect([program, condition]).toEqual(["node", "--conditions=jobwire:source"])
    expect(trackedFiles()).toContain(entry)
  })

  it("ask for health by a list of words, the last of which is a program", () => {
    const [kind, program, flag, script = ""] = wordsOf(compose, "test:")
    expect([kind, program, flag]).toEqual(["CMD", "node", "-e"])
    expect(script).toContain("/readyz")
    expect(() => compileFunction(script)).not.toThrow()
  })
})
